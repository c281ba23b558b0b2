extension ClientMessage {
  /// Parses a URL that contains the whole request: its path has the timer and the command, its query the fields, as in
  /// `?duration=300&warnings=60,10&force=true`.
  public init(
    command: String, timer: String?, fields: [HeaderField], query: [(name: String, value: String)]
  ) throws(MalformedMessage) {
    var object = JSONObject()
    do throws(ErrorReply) {
      try Self.add("command", .string(command), to: &object)
      if let timer { try Self.add("timer", .string(timer), to: &object) }
      for field in fields { try Self.add(field.name, field.value, to: &object) }
      for item in query {
        guard object.add(item.name, try Self.value(of: item.name, item.value)) else {
          throw .badRequest("\(quoted(item.name)) appears in the URL twice; give each field once")
        }
      }
    } catch {
      throw MalformedMessage(error: error)
    }
    try self.init(object)
  }

  /// Parses a field's value by its kind; whether the command takes the field is checked later.
  private static func value(of name: String, _ text: String) throws(ErrorReply) -> JSONValue {
    switch Command.kindsInURL[name] {
    case .number: return try number(name, text, "a number")
    case .numbers:
      var numbers: [JSONValue] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: !text.contains(",")) {
        numbers.append(try number(name, String(part), "numbers of seconds, as in 60,10"))
      }
      return .array(numbers)
    case .flag:
      guard text == "true" || text == "false" else {
        throw .badRequest("\"\(name)\" in the URL has to be true or false")
      }
      return .bool(text == "true")
    case .text, .names, nil: return .string(text)
    }
  }

  private static func number(
    _ name: String, _ text: String, _ wanted: String
  ) throws(ErrorReply) -> JSONValue {
    guard case .number(let number)? = try? JSONReader.read(Array(text.utf8)) else {
      throw .badRequest("\"\(name)\" in the URL has to be \(wanted)")
    }
    return .number(number)
  }
}

extension ClientRequest {
  /// Returns whether a command of this name changes timers.
  public static func isChange(command name: String) -> Bool {
    Command(rawValue: name)?.isChange ?? false
  }
}
