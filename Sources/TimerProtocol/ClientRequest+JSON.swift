import TimerCore

extension ClientRequest {
  /// Reads a request's members; an unknown one is refused, since a misspelled optional field would otherwise be ignored
  /// without an error.
  init(_ object: JSONObject) throws(ErrorReply) {
    guard let value = object["command"] else {
      throw .badRequest("\"command\" is missing; it is one of \(Command.names)")
    }
    guard case .string(let name) = value else {
      throw .badRequest("\"command\" has to be a string, not \(value.kind)")
    }
    guard let command = Command(rawValue: name) else {
      throw ErrorReply(
        .unknownCommand, "there is no command \(quoted(name)); it is one of \(Command.names)")
    }
    let fields = try RequestFields(object, of: command)
    self = try command.request(fields)
  }

  /// The one timer that a request speaks of, also when the rest of it makes no sense.
  static func timer(in object: JSONObject) -> TimerID? {
    switch object["timer"] {
    case .string(let name): return TimerID(name)
    case nil:
      guard case .string(let name) = object["command"], let command = Command(rawValue: name),
        command.fields.contains(.timer), command != .finishAll, object["timers"] == nil
      else { return nil }
      return .standard
    default: return nil
    }
  }
}
