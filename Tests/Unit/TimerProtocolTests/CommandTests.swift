import Testing
import TimerCore

@testable import TimerProtocol

/// Walks the table of commands: a field that one of its readers leaves out fails here.
@Suite struct `Each command of the table` {
  /// A command with one of its fields.
  struct Row: CustomTestStringConvertible {
    let command: Command
    let field: RequestField

    var testDescription: String { "\(command.rawValue) \(field.name)" }
  }

  static let rows = Command.allCases.flatMap { command in
    command.fields.map { Row(command: command, field: $0) }
  }
  /// The rows of changes, without the key, which changes nothing, and without a `timer` that can only be `*`.
  static let changes = rows.filter {
    $0.command.isChange && $0.field != .requestId
      && !($0.command == .finishAll && $0.field == .timer)
  }

  /// The fields that a command needs; an update needs at least one setting.
  private func needed(by command: Command) -> [RequestField: String] {
    let needed: [RequestField: String] = [
      .seconds: "1", .text: "old", .signal: "none", .token: "old",
    ]
    if command == .update { return [RequestField(.title): ""] }
    return needed.filter { command.fields.contains($0.key) }
  }

  /// A field's value, as in a URL, that differs from its default and from `needed`.
  private func value(of row: Row) -> String {
    switch (row.field.name, row.field.kind) {
    case ("timer", _) where row.command == .finishAll: "*"
    case ("type", _): "stopwatch"
    case ("atZero", _): "finish"
    case ("signal", _): "flash"
    case ("since", _): "history:5"
    case (_, .flag): "true"
    case (_, .number): "5"
    case (_, .numbers): "5,6"
    case (_, .names), (_, .text): "new"
    }
  }

  private func json(_ field: RequestField, _ value: String) -> String {
    switch field.kind {
    case .flag, .number: "\"\(field.name)\":\(value)"
    case .numbers: "\"\(field.name)\":[\(value)]"
    case .names: "\"\(field.name)\":[\"\(value)\"]"
    case .text: "\"\(field.name)\":\"\(value)\""
    }
  }

  /// The needed fields, with the row's own field in place of the needed one.
  private func fields(_ row: Row) -> [RequestField: String] {
    needed(by: row.command).merging([row.field: value(of: row)]) { _, own in own }
  }

  private func request(
    _ command: Command, _ fields: [RequestField: String]
  ) throws -> ClientRequest {
    let members = ["\"command\":\"\(command.rawValue)\""] + fields.map { json($0.key, $0.value) }
    return try TimerProtocolTests.request("{\(members.joined(separator: ","))}")
  }

  @Test(arguments: rows)
  func `takes each of its fields`(_ row: Row) throws {
    #expect(throws: Never.self) { try request(row.command, fields(row)) }
  }

  @Test(arguments: changes)
  func `has each of its fields in the fingerprint`(_ row: Row) throws {
    let fingerprint = try request(row.command, fields(row)).fingerprint
    let plain = try request(row.command, needed(by: row.command)).fingerprint

    #expect(fingerprint != nil)
    #expect(fingerprint != plain)
  }

  @Test(arguments: rows.filter { $0.command.isChange || $0.command == .list })
  func `is read from a URL as from a message`(_ row: Row) throws {
    guard row.field != .timer else { return }
    let fields = fields(row)
    let query = fields.map { (name: $0.key.name, value: $0.value) }

    let message = try ClientMessage(
      command: row.command.rawValue, timer: nil, fields: [], query: query)

    #expect(try message.request == request(row.command, fields))
  }

  @Test func `has no other kind for a name than the others have`() {
    for row in Self.rows {
      let same = Self.rows.filter { $0.field.name == row.field.name }
      #expect(same.allSatisfy { $0.field == row.field })
    }
  }

  @Test func `may be repeated when it changes timers`() throws {
    for command in Command.allCases {
      let request = try request(command, needed(by: command))

      #expect(request.isChange == command.isChange)
    }
  }

  @Test func `gives settings at a start and in an update`() {
    for setting in SettingField.inRequests {
      #expect(Command.start.fields.contains(RequestField(setting)))
      #expect(Command.update.fields.contains(RequestField(setting)))
    }
  }

  @Test func `lists its fields in the order that people know`() {
    let refusals = ["start", "update"].map { refusal(of: #"{"command":"\#($0)","x":1}"#)?.message }

    #expect(
      refusals == [
        #""start" has no field "x"; its fields are: timer, duration, type, atZero, title, "#
          + "warnings, force, ifRevision, ifRun, at, requestId",
        #""update" has no field "x"; its fields are: timer, title, warnings, atZero, "#
          + "ifRevision, ifRun, at, requestId",
      ])
    #expect(
      refusal(of: #"{"command":"update"}"#)?.message
        == #""update" needs at least one of "title", "warnings" and "atZero""#)
  }
}
