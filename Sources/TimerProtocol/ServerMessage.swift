import JSONText
public import TimerCore

/// A message of the server; each is one text message.
public enum ServerMessage: Equatable, Sendable {
  case hello(Hello)
  case accepted(ReplyTag, Outcome)
  /// The state stands beside the error where there is one, so that a script needs no second call.
  case refused(ReplyTag, ErrorReply, timer: TimerReading?)
  case snapshot(SnapshotCause, [TimerReading])
  case removed(TimerID)
  case server(ServerStatus)
}

/// The first message on each connection.
public struct Hello: Equatable, Sendable {
  public var server: String
  /// New at each start of the server.
  public var epoch: String
  public var role: String
  public var now: Instant
  /// Kept with the data; new when changes that were answered are lost.
  public var history: String
  /// The last revision that was published.
  public var revision: Int
  /// The server's status.
  public var status: ServerStatus

  public init(
    server: String, epoch: String, role: String, now: Instant, history: String, revision: Int,
    status: ServerStatus
  ) {
    self.server = server
    self.epoch = epoch
    self.role = role
    self.now = now
    self.history = history
    self.revision = revision
    self.status = status
  }
}

/// The result in a successful reply.
public enum Outcome: Equatable, Sendable {
  case done
  case timer(TimerReading)
  case timers([TimerReading])
  /// `next` is the `after` of the next page; nil at the end.
  case page([TimerReading], next: TimerID?)
  /// A subscription to every timer got another interval than it asked for.
  case subscribed(interval: Seconds)
  case synced(clientTime: ReplyTag, receivedAt: Instant, sentAt: Instant)
  /// The connection's new role.
  case authenticated(role: String)
}

/// Why a snapshot is sent.
public enum SnapshotCause: Hashable, Sendable {
  case subscribed, tick, started, paused, resumed, finished, reset, adjusted, updated, lapped
  /// A countdown crossed zero at `at`; late when the server was down then.
  case ended(at: Instant, late: Bool)
  case restored, external
  /// A further part of the snapshot before.
  case continued

  var name: String {
    switch self {
    case .ended: "ended"
    default: "\(self)"
    }
  }
}

extension ServerMessage {
  public static let protocolVersion = 1

  /// The message as UTF-8.
  public var text: [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.object(write)
    return writer.compactBytes
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .hello(let hello):
      writer.member("event", "hello")
      writer.member("server", hello.server)
      writer.member("protocol", Self.protocolVersion)
      writer.member("epoch", hello.epoch)
      writer.member("role", hello.role)
      writer.member("now", hello.now)
      writer.member("history", hello.history)
      writer.member("revision", hello.revision)
      hello.status.write(to: &writer)
    case .accepted(let tag, let outcome):
      writer.member("reply", verbatim: tag.token)
      writer.member("ok", true)
      outcome.write(to: &writer)
    case .refused(let tag, let error, let timer):
      writer.member("reply", verbatim: tag.token)
      writer.member("ok", false)
      writer.member("error") { error.write(to: &$0) }
      if let timer { writer.member("timer") { timer.write(to: &$0) } }
    case .snapshot(let cause, let timers):
      writer.member("event", "snapshot")
      writer.member("cause", cause.name)
      let shows = cause == .tick ? TimerReading.writeTick : TimerReading.write
      writer.array("timers", timers) { writer, timer in writer.object(shows(timer)) }
      if case .ended(let instant, let late) = cause {
        writer.member("endedAt", instant)
        if late { writer.member("late", true) }
      }
    case .removed(let id):
      writer.member("event", "removed")
      writer.member("timer", id.name)
    case .server(let status):
      writer.member("event", "server")
      status.write(to: &writer)
    }
  }
}

extension ServerStatus {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("wallOffset", wallOffset)
    writer.member("writable", isWritable)
    if let reason { writer.member("reason", reason) }
  }
}

extension Outcome {
  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .done: break
    case .timer(let timer): writer.member("timer") { timer.write(to: &$0) }
    case .timers(let timers):
      writer.array("timers", timers) { writer, timer in writer.object(timer.write) }
    case .page(let timers, let next):
      writer.array("timers", timers) { writer, timer in writer.object(timer.write) }
      if let next { writer.member("next", next.name) }
    case .subscribed(let interval): writer.member("interval", interval)
    case .synced(let clientTime, let receivedAt, let sentAt):
      writer.member("clientTime", verbatim: clientTime.token)
      writer.member("receivedAt", receivedAt)
      writer.member("sentAt", sentAt)
    case .authenticated(let role): writer.member("role", role)
    }
  }
}

extension ErrorReply {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("code", code.rawValue)
    writer.member("message", message)
    writer.member("retryable", isRetryable)
    if let limit { writer.member("limit", limit) }
    if let field { writer.member("field", field) }
  }
}
