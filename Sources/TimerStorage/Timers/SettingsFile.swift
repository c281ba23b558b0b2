import TimerCore

/// The settings in a timer's file, each read as its row in the table says.
///
/// A setting that is missing has its default; only the type has none.
struct SettingsFile: Decodable {
  private(set) var settings: TimerSettings

  /// Throws a `RecordFault` for a value that no setting may have.
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Name.self)
    settings = TimerSettings(type: try Self.type(in: members))
    for field in SettingField.inFiles { try read(field, in: members) }
    try checkTogether()
  }

  /// A member's name, which is that of the row.
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  private typealias Members = KeyedDecodingContainer<Name>

  private mutating func read(_ field: SettingField, in members: Members) throws {
    let name = Name(field.name)
    switch field.kind {
    case .type: break
    case .atZero(let place):
      let atZero = try members.decodeIfPresent(AtZero.self, forKey: name)
      if let atZero { settings[keyPath: place.settings] = atZero }
    case .text(let place, let bytesMax):
      guard let text = try members.decodeIfPresent(String.self, forKey: name) else { return }
      settings[keyPath: place.settings] = try Self.text(text, field.name, bytesMax)
    case .lengths(let place, let countMax):
      guard let values = try members.decodeIfPresent([Double].self, forKey: name) else { return }
      settings[keyPath: place.settings] = try Self.lengths(values, field.name, countMax)
    case .message: settings.message = try Self.message(in: members, name)
    case .signal: settings.signal = try Self.signal(in: members, name)
    }
  }

  // MARK: By kind

  private static func type(in members: Members) throws -> RestoreType {
    let name = try members.decode(String.self, forKey: Name("type"))
    let duration = try members.decodeIfPresent(Double.self, forKey: Name("duration"))
    switch (name, duration) {
    case ("stopwatch", nil): return .stopwatch
    case ("timer", let duration?):
      let length = try Seconds(member: "duration", duration)
      guard length > .zero, length <= TimerLimits.durationMax else {
        throw RecordFault.contradiction("a duration of \(duration) seconds")
      }
      return .countdown(length)
    default:
      throw RecordFault.contradiction(
        "type \"\(name)\" with duration \(duration.map { "\($0)" } ?? "none")")
    }
  }

  private static func text(
    _ text: String, _ name: String, _ bytesMax: Int
  ) throws(RecordFault) -> String {
    guard text.utf8.count <= bytesMax else {
      throw .contradiction("a \(name) of more than \(bytesMax) bytes")
    }
    return text
  }

  private static func lengths(
    _ values: [Double], _ name: String, _ countMax: Int
  ) throws(RecordFault) -> [Seconds] {
    let lengths = try Seconds.lengths(member: name, values)
    guard lengths.count <= countMax else { throw .contradiction("more than \(countMax) \(name)") }
    return lengths
  }

  private static func message(in members: Members, _ name: Name) throws -> SpeakerMessage? {
    let message = try members.decodeIfPresent(MessageFile.self, forKey: name)
    guard let message, !message.text.isEmpty else { return nil }
    guard let text = SpeakerText(message.text) else {
      throw RecordFault.contradiction("a message that is not \(SpeakerText.rule)")
    }
    return SpeakerMessage(text, sentAt: try sent(message.sentAt, in: members))
  }

  private static func signal(in members: Members, _ name: Name) throws -> SpeakerSignal? {
    let signal = try members.decodeIfPresent(SignalFile.self, forKey: name)
    return try signal.map { SpeakerSignal($0.kind, sentAt: try sent($0.sentAt, in: members)) }
  }

  /// Without `sentAt`, as a person writes it, it was sent when the timer last changed.
  private static func sent(_ sentAt: Double?, in members: Members) throws -> Instant {
    let changedAt = try members.decodeIfPresent(Double.self, forKey: Name("changedAt"))
    return Instant(Seconds(clamping: sentAt ?? changedAt ?? 0))
  }

  private struct MessageFile: Decodable {
    var text: String
    var sentAt: Double?
  }

  private struct SignalFile: Decodable {
    var kind: SpeakerSignal.Kind
    var sentAt: Double?
  }

  // MARK: Together

  private func checkTogether() throws(RecordFault) {
    guard settings.restartsTooSoon, let duration = settings.type.duration else { return }
    throw .contradiction("a duration of \(duration.inSeconds) seconds that repeats")
  }
}

extension Seconds {
  /// A length of time in a file's member of this name.
  init(member name: String, _ value: Double) throws(RecordFault) {
    guard let length = Seconds(exactly: value), length >= .zero else {
      throw .contradiction("\(name) of \(value) seconds")
    }
    self = length
  }

  static func lengths(member name: String, _ values: [Double]) throws(RecordFault) -> [Seconds] {
    var lengths: [Seconds] = []
    lengths.reserveCapacity(values.count)
    for value in values { lengths.append(try Seconds(member: name, value)) }
    return lengths
  }
}
