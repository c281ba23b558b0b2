import JSONText
import SharedAlgorithms
import TimerCore

/// A hash of a change: two requests that differ in anything but their keys have different ones.
///
/// It is the same in every process and on every machine, since the disk keeps it for later servers. It has 53 bits,
/// which every JSON reader can represent.
public struct RequestFingerprint: Hashable, Sendable {
  public let value: Int

  public init(_ value: Int) {
    self.value = value
  }

  fileprivate init(of bytes: [UInt8]) {
    // Forging a collision gains nothing: it fools only the owner of both requests.
    let hash = FNV1a(bytes).value
    value = Int((hash ^ (hash >> 53)) & (1 << 53 - 1))
  }
}

extension ClientRequest {
  /// nil for what changes nothing.
  public var fingerprint: RequestFingerprint? {
    guard isChange else { return nil }
    var writer = JSONWriter(capacity: 256)
    writer.object { write(to: &$0) }
    return RequestFingerprint(of: writer.bytes)
  }

  /// The one spelling of a change, whichever it came in; without its name.
  private func write(to writer: inout JSONWriter) {
    switch self {
    case .change(let id, let change, _):
      writer.member("timer", id.name)
      change.command.write(to: &writer)
      if let revision = change.ifRevision { writer.member("ifRevision", revision) }
      if let run = change.ifRun { writer.member("ifRun", run) }
      if let press = change.at { writer.member("at", press) }
    case .finishAll(let press, _):
      writer.member("command", "finishAll")
      if let press { writer.member("at", press) }
    default: preconditionFailure("asked only of what changes timers")
    }
  }
}

extension TimerCommand {
  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .start(let start):
      writer.member("command", "start")
      start.write(to: &writer)
    case .update(let update):
      writer.member("command", "update")
      update.write(to: &writer)
    case .pause: writer.member("command", "pause")
    case .resume: writer.member("command", "resume")
    case .finish(let resetTime):
      writer.member("command", "finish")
      writer.member("resetTime", resetTime)
    case .reset: writer.member("command", "reset")
    case .addRemainingTime(let seconds, let clamp):
      writer.member("command", "addRemainingTime")
      writer.member("seconds", seconds)
      writer.member("clamp", clamp)
    case .addElapsedTime(let seconds, let clamp):
      writer.member("command", "addElapsedTime")
      writer.member("seconds", seconds)
      writer.member("clamp", clamp)
    case .lap: writer.member("command", "lap")
    case .message(let text):
      writer.member("command", "message")
      writer.member("text", text?.text ?? "")
    case .signal(let kind):
      writer.member("command", "signal")
      writer.member("signal", kind?.rawValue ?? "none")
    case .remove: writer.member("command", "remove")
    }
  }
}

extension TimerStart {
  fileprivate func write(to writer: inout JSONWriter) {
    if let duration { writer.member("duration", duration) }
    if let kind { writer.member("type", kind.rawValue) }
    settings.write(to: &writer)
    writer.member("force", force)
  }
}

extension TimerUpdate {
  fileprivate func write(to writer: inout JSONWriter) {
    for field in SettingField.inRequests { writer.member(field, of: self) }
  }
}
