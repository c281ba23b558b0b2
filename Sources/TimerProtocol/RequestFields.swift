import TimerCore

/// The members of a request, each read as the protocol's tables have it.
struct RequestFields {
  private let object: JSONObject

  /// Refuses a member that the command doesn't take.
  init(_ object: JSONObject, of command: Command) throws(ErrorReply) {
    let fields = command.fields
    for member in object.members
    where !member.name.isSpelled("id") && !member.name.isSpelled("command")
      && !fields.contains(where: { member.name.isSpelled($0.name) })
    {
      let taken = fields.isEmpty ? "none" : fields.map(\.name).joined(separator: ", ")
      throw .badRequest(
        "\"\(command.rawValue)\" has no field \(quoted(member.name)); its fields are: \(taken)")
    }
    self.object = object
  }

  // MARK: What the commands are made of

  func change(_ command: TimerCommand) throws(ErrorReply) -> ClientRequest {
    .change(
      try timer(),
      TimerChange(
        command, ifRevision: try revision(.ifRevision, of: "revision"),
        ifRun: try revision(.ifRun, of: "run"), at: try instant(.at)),
      idempotencyKey: try idempotencyKey())
  }

  /// As in a subscription, `*` stands for every timer; a command for all of them takes no other name.
  func finishAll() throws(ErrorReply) -> ClientRequest {
    if let name = try string(.timer), name != "*" {
      throw .badRequest(
        "\"finishAll\" is for every timer: leave \"timer\" out, or send \"finish\" for one")
    }
    return .finishAll(at: try instant(.at), idempotencyKey: try idempotencyKey())
  }

  func start() throws(ErrorReply) -> TimerStart {
    TimerStart(
      duration: try duration(), kind: try choice(.type), settings: try settings(),
      force: try flag(.force))
  }

  func update() throws(ErrorReply) -> TimerUpdate {
    let update = try settings()
    guard !update.isEmpty else {
      throw .badRequest("\"update\" needs at least one of \(Self.updatedNames)")
    }
    return update
  }

  /// The settings that an update may have.
  private static let updatedNames: String = {
    let names = Command.updated.map { "\"\($0.name)\"" }
    return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
  }()

  // MARK: Names

  func timer() throws(ErrorReply) -> TimerID {
    guard let name = try string(.timer) else { return .standard }
    return try timerID(name)
  }

  /// One timer, a list of them, or `*` for all.
  func selection() throws(ErrorReply) -> TimerSelection {
    guard let value = self[.timers] else {
      return try string(.timer) == "*" ? .all : .timers([timer()])
    }
    guard self[.timer] == nil else {
      throw .badRequest("give either \"timer\" or \"timers\", not both")
    }
    switch value {
    case .string("*"), .array([.string("*")]): return .all
    case .array(let elements):
      var timers: [TimerID] = []
      for element in elements {
        guard case .string(let name) = element else {
          throw wrongType(.timers, Self.timersRule, value)
        }
        timers.append(try timerID(name))
      }
      return .timers(timers)
    default: throw wrongType(.timers, Self.timersRule, value)
    }
  }

  /// The whole list, or a page of it.
  func list() throws(ErrorReply) -> ClientRequest {
    let after = try string(.after)
    let limit = try limit()
    guard after != nil || limit != nil else { return .list }
    return .listPage(
      ListPage(limit: limit ?? ListPage.limits.upperBound, after: try after.map(timerID)))
  }

  private func limit() throws(ErrorReply) -> Int? {
    guard let number = try number(.limit) else { return nil }
    let rule = "a whole number from \(ListPage.limits.lowerBound) to \(ListPage.limits.upperBound)"
    guard number == number.rounded() else {
      throw .badRequest("\"limit\" has to be \(rule)")
    }
    let bounds = ListPage.limits
    let nearest = min(max(number, Double(bounds.lowerBound)), Double(bounds.upperBound))
    guard nearest == number else {
      throw outOfRange(.limit, rule, limit: Seconds(clamping: nearest))
    }
    return Int(nearest)
  }

  private static let timersRule = "a list of names, or \"*\" for every timer"

  private func timerID(_ name: String) throws(ErrorReply) -> TimerID {
    guard let id = TimerID(name) else {
      throw .badRequest("\(quoted(name)) is not a valid timer name: \(TimerID.rule)")
    }
    return id
  }

  func idempotencyKey() throws(ErrorReply) -> IdempotencyKey? {
    guard let text = try string(.requestId) else { return nil }
    guard let key = IdempotencyKey(text) else {
      throw .badRequest("\"requestId\" has to be 1 to \(IdempotencyKey.bytesMax) bytes long")
    }
    return key
  }

  func token() throws(ErrorReply) -> String {
    guard let token = try string(.token) else { throw missing(.token, "a string") }
    return token
  }

  /// The message for the speaker; nil, for an empty text or null, clears it.
  func speakerText() throws(ErrorReply) -> SpeakerText? {
    guard self[.text] != .null else { return nil }
    guard let text = try string(.text) else { throw missing(.text, "a string, or null to clear") }
    guard !text.isEmpty else { return nil }
    guard let line = SpeakerText(text) else {
      throw .badRequest("\"text\" has to be \(SpeakerText.rule)")
    }
    return line
  }

  /// nil for `none`, which takes a signal back.
  func signal() throws(ErrorReply) -> SpeakerSignal.Kind? {
    guard let name = try string(.signal) else { throw missing(.signal, Self.signals) }
    if name == "none" { return nil }
    guard let kind = SpeakerSignal.Kind(rawValue: name) else {
      throw .badRequest("\"signal\" has to be \(Self.signals), not \(quoted(name))")
    }
    return kind
  }

  private static let signals =
    "one of "
    + (SpeakerSignal.Kind.allCases.map(\.rawValue) + ["none"]).map { "\"\($0)\"" }
    .joined(separator: ", ")

  // MARK: Numbers

  private func duration() throws(ErrorReply) -> Seconds? {
    guard let number = try number(.duration) else { return nil }
    let rule = "more than 0 and at most \(TimerLimits.durationMax.text)"
    guard number > 0 else { throw outOfRange(.duration, rule, limit: Seconds(microseconds: 1)) }
    return try seconds(
      .duration, max(number, 0.000_001), in: Seconds(microseconds: 1)...TimerLimits.durationMax,
      rule)
  }

  func addedSeconds() throws(ErrorReply) -> Seconds {
    guard let number = try number(.seconds) else {
      throw missing(.seconds, "a number of seconds")
    }
    // The upper limit depends on the timer, so the timer's rules check it.
    return Seconds(clamping: number)
  }

  /// Zero for changes only; a second when none is given.
  func interval() throws(ErrorReply) -> Seconds {
    guard let number = try number(.interval) else { return 1 }
    if number == 0 { return .zero }
    return try seconds(
      .interval, number, in: ClientRequest.intervals, ClientRequest.intervalRule)
  }

  func instant(_ field: RequestField) throws(ErrorReply) -> Instant? {
    guard let number = try number(field) else { return nil }
    // An instant that no clock shows is out of range too; the timer's rules have the error message.
    return Instant(Seconds(clamping: number))
  }

  private func revision(_ field: RequestField, of member: String) throws(ErrorReply) -> Int? {
    guard let number = try number(field) else { return nil }
    guard let revision = Int(exactly: number), revision >= 0 else {
      throw .badRequest(
        "\"\(field.name)\" has to be a whole number, as a state's \"\(member)\" has it")
    }
    return revision
  }

  func since() throws(ErrorReply) -> HistoryPoint? {
    guard let text = try string(.since) else { return nil }
    guard let point = HistoryPoint(text) else {
      throw .badRequest("\"since\" has to be \(HistoryPoint.rule)")
    }
    return point
  }

  func clientTime() throws(ErrorReply) -> ReplyTag {
    guard let value = self[.clientTime] else { return .none }
    guard case .number = value, let token = ReplyTag(value) else {
      throw wrongType(.clientTime, "a number", value)
    }
    return token
  }

  func seconds(
    _ field: RequestField, _ number: Double, in range: ClosedRange<Seconds>, _ rule: String
  ) throws(ErrorReply) -> Seconds {
    let length = Seconds(clamping: number)
    guard range.contains(length) else {
      let limit = length < range.lowerBound ? range.lowerBound : range.upperBound
      throw outOfRange(field, rule, limit: limit)
    }
    return length
  }

  // MARK: Types

  subscript(field: RequestField) -> JSONValue? {
    object[field.name]
  }

  func flag(_ field: RequestField) throws(ErrorReply) -> Bool {
    switch self[field] {
    case nil: return false
    case .bool(let flag): return flag
    case let value?: throw wrongType(field, "true or false", value)
    }
  }

  private func number(_ field: RequestField) throws(ErrorReply) -> Double? {
    switch self[field] {
    case nil: return nil
    case .number(let number): return number.value
    case let value?: throw wrongType(field, "a number", value)
    }
  }

  func string(_ field: RequestField) throws(ErrorReply) -> String? {
    switch self[field] {
    case nil: return nil
    case .string(let text): return text
    case let value?: throw wrongType(field, "a string", value)
    }
  }

  func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _ field: RequestField
  ) throws(ErrorReply) -> Choice? {
    guard let text = try string(field) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let choices = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw .badRequest("\"\(field.name)\" has to be one of \(choices), not \(quoted(text))")
    }
    return choice
  }

  // MARK: Words

  func wrongType(_ field: RequestField, _ wanted: String, _ value: JSONValue) -> ErrorReply {
    .badRequest("\"\(field.name)\" has to be \(wanted), not \(value.kind)")
  }

  private func missing(_ field: RequestField, _ wanted: String) -> ErrorReply {
    .badRequest("\"\(field.name)\" is missing; give \(wanted)")
  }

  private func outOfRange(_ field: RequestField, _ rule: String, limit: Seconds) -> ErrorReply {
    ErrorReply(.outOfRange, "\"\(field.name)\" has to be \(rule)", limit: limit)
  }
}
