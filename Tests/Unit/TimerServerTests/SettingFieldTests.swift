import Foundation
import Testing
import TimerCore
import TimerProtocol
import TimerStorage

/// Walks the table of settings: a setting that one of its readers or writers leaves out fails here.
@Suite struct `Each setting of the table` {
  /// Requests that give a setting a value other than its default, and how a state shows that.
  private struct Sample {
    var commands = ["start", "update"]
    /// The fields as a message has them.
    var fields: [String: Any]
    /// The same fields as a URL's query has them.
    var query: [String: String]
    var shown: String

    init(_ field: SettingField) {
      let name = field.name
      switch field.kind {
      case .type:
        commands = ["start"]
        (fields, query) = (["duration": 90], ["duration": "90"])
        shown = #""type":"timer","duration":90"#
      case .atZero:
        (fields, query) = ([name: "finish"], [name: "finish"])
        shown = #""\#(name)":"finish""#
      case .text(_, let bytesMax):
        let text = String(repeating: "x", count: bytesMax)
        (fields, query) = ([name: text], [name: text])
        shown = #""\#(name)":"\#(text)""#
      case .lengths(_, let countMax):
        let texts = (1...countMax).map { "\($0)" }.joined(separator: ",")
        (fields, query) = ([name: Array(1...countMax)], [name: texts])
        shown = #""\#(name)":[\#(texts)]"#
      case .message:
        commands = ["message"]
        (fields, query) = (["text": "Wrap up"], ["text": "Wrap up"])
        shown = #""message":{"text":"Wrap up","sentAt":1764480000.25}"#
      case .signal:
        commands = ["signal"]
        (fields, query) = (["signal": "flash"], ["signal": "flash"])
        shown = #""signal":{"kind":"flash","sentAt":1764480000.25}"#
      }
    }
  }

  private let now: Instant = 1_764_480_000.25

  private var tea: TimerID {
    get throws { try #require(TimerID("tea")) }
  }

  private func request(_ command: String, _ fields: [String: Any]) throws -> ClientRequest {
    let members = fields.merging(["command": command, "timer": "tea"]) { field, _ in field }
    let text = try JSONSerialization.data(withJSONObject: members)
    return try ClientMessage(Array(text)).request
  }

  /// The timer after a request to a stopwatch without settings, or to none.
  private func timer(after request: ClientRequest) throws -> SharedTimer {
    guard case .change(let id, let change, _) = request else {
      throw CancellationError()
    }
    var before: SharedTimer? = SharedTimer(
      id: id, settings: TimerSettings(type: .stopwatch), changedAt: 0)
    if case .start = change.command { before = nil }
    return try #require(try SharedTimer.applying(change, to: before, id: id, now: now))
  }

  /// The property of this name, as text.
  private func property(_ field: SettingField, of settings: TimerSettings) throws -> String {
    let children = Mirror(reflecting: settings).children
    return "\(try #require(children.first { $0.label == field.name }).value)"
  }

  private func isDefault(_ field: SettingField, in settings: TimerSettings) throws -> Bool {
    try property(field, of: settings)
      == property(field, of: TimerSettings(type: .stopwatch))
  }

  private func json(_ message: ServerMessage) -> String {
    String(decoding: message.text, as: UTF8.self)
  }

  // MARK: Tests

  @Test func `is a property, and each property is a setting`() {
    let properties = Mirror(reflecting: TimerSettings(type: .stopwatch)).children.map(\.label)
    let updated = Mirror(reflecting: TimerUpdate()).children.map(\.label)

    #expect(Set(properties) == Set(SettingField.allCases.map(\.name)))
    #expect(Set(updated) == Set(SettingField.inRequests.map(\.name)))
    #expect(SettingField.inFiles.count == SettingField.allCases.count)
  }

  @Test(arguments: SettingField.allCases)
  func `gets from a request into the timer and its state`(_ field: SettingField) throws {
    let sample = Sample(field)
    for command in sample.commands {
      let timer = try timer(after: request(command, sample.fields))

      #expect(try !isDefault(field, in: timer.settings))
      for cause in [SnapshotCause.tick, .updated] {
        let reading = TimerReading(timer, at: now)
        #expect(json(.snapshot(cause, [reading])).contains(sample.shown))
      }
    }
  }

  @Test(arguments: SettingField.allCases)
  func `is read from a URL as from a message`(_ field: SettingField) throws {
    let sample = Sample(field)
    for command in sample.commands {
      let query = sample.query.map { (name: $0.key, value: $0.value) }
      let message = try ClientMessage(command: command, timer: "tea", fields: [], query: query)

      #expect(try message.request == request(command, sample.fields))
    }
  }

  @Test(arguments: SettingField.allCases)
  func `makes another fingerprint`(_ field: SettingField) throws {
    let sample = Sample(field)
    let other = [
      "start": [:], "update": ["title": "", "warnings": []], "message": ["text": "x"],
      "signal": ["signal": "none"],
    ]
    for command in sample.commands {
      let plain = try request(command, try #require(other[command]))
      let given = try request(command, sample.fields)

      #expect(given.fingerprint != nil)
      #expect(given.fingerprint != plain.fingerprint)
    }
  }

  @Test(arguments: SettingField.allCases)
  func `survives in the file`(_ field: SettingField) throws {
    let sample = Sample(field)
    let timer = try timer(after: request(sample.commands[0], sample.fields))
    let record = TimerRecord(
      timer: timer, clock: ClockReading(server: now, boot: 5_000, bootID: "b0"))

    let read = try TimerRecord(contents: record.contents(), id: tea)

    #expect(read == record)
    #expect(try !isDefault(field, in: read.timer.settings))
  }

  @Test(arguments: SettingField.inRequests)
  func `is left by an update without it`(_ field: SettingField) throws {
    let timer = try timer(after: request("start", Sample(field).fields))
    for other in SettingField.inRequests where other != field {
      let update = try request("update", Sample(other).fields)
      guard case .change(let id, let change, _) = update else { continue }

      let next = try SharedTimer.applying(change, to: timer, id: id, now: now)

      #expect(
        try property(field, of: try #require(next).settings)
          == property(field, of: timer.settings))
    }
  }

  @Test(arguments: SettingField.inRequests)
  func `has limits that requests and files keep`(_ field: SettingField) throws {
    let tooMuch: Any
    switch field.kind {
    case .type, .message, .signal: return
    case .atZero: tooMuch = "never"
    case .text(_, let bytesMax): tooMuch = String(repeating: "x", count: bytesMax + 1)
    case .lengths(_, let countMax): tooMuch = Array(1...countMax + 1)
    }
    let file = try JSONSerialization.data(withJSONObject: [
      "version": 1, "timer": "tea", "type": "stopwatch", field.name: tooMuch,
    ])

    let refusal = #expect(throws: MalformedMessage.self) {
      try request("start", [field.name: tooMuch])
    }
    let fault = #expect(throws: RecordFault.self) { try TimerRecord(contents: file, id: tea) }

    #expect(refusal?.error.code == .badRequest)
    #expect(refusal?.error.message.contains("\"\(field.name)\"") == true)
    #expect(fault?.isDamage == true)
  }

  @Test func `has its default in a file without it`() throws {
    let file = Data(#"{"version":1,"timer":"tea","type":"stopwatch"}"#.utf8)

    let settings = try TimerRecord(contents: file, id: tea).timer.settings

    for field in SettingField.allCases { #expect(try isDefault(field, in: settings)) }
  }
}
