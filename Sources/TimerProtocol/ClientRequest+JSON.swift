import TimerCore

extension ClientRequest {
  /// Reads a request's members; an unknown one is refused, since a typo must not be taken for a wish.
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
        command.fields.contains("timer"), object["timers"] == nil
      else { return nil }
      return .standard
    default: return nil
    }
  }
}

/// The commands by their names on the wire.
enum Command: String, CaseIterable {
  case start, update, pause, resume, finish, finishAll, reset
  case addRemainingTime, addElapsedTime, lap, message, signal, remove
  case get, list, subscribe, unsubscribe, sync, authenticate

  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// The fields that it takes beside `id` and `command`.
  var fields: [String] {
    switch self {
    case .start:
      ["timer", "duration", "type", "atZero", "title", "warnings", "force"] + Self.conditions
    case .update: ["timer", "title", "warnings", "atZero"] + Self.conditions
    case .pause, .resume, .reset, .lap, .remove: ["timer"] + Self.conditions
    case .finish: ["timer", "resetTime"] + Self.conditions
    case .finishAll: ["at", "requestId"]
    case .addRemainingTime, .addElapsedTime: ["timer", "seconds", "clamp"] + Self.conditions
    case .message: ["timer", "text"] + Self.conditions
    case .signal: ["timer", "signal"] + Self.conditions
    case .get: ["timer"]
    case .list: ["limit", "after"]
    case .subscribe: ["timer", "timers", "interval", "since", "parts"]
    case .unsubscribe: ["timer", "timers"]
    case .sync: ["clientTime"]
    case .authenticate: ["token"]
    }
  }

  private static let conditions = ["ifRevision", "ifRun", "at", "requestId"]

  func request(_ fields: RequestFields) throws(ErrorReply) -> ClientRequest {
    switch self {
    case .start: try fields.change(.start(fields.start()))
    case .update: try fields.change(.update(fields.update()))
    case .pause: try fields.change(.pause)
    case .resume: try fields.change(.resume)
    case .finish: try fields.change(.finish(resetTime: fields.flag("resetTime")))
    case .finishAll:
      .finishAll(at: try fields.instant("at"), idempotencyKey: try fields.idempotencyKey())
    case .reset: try fields.change(.reset)
    case .addRemainingTime:
      try fields.change(.addRemainingTime(fields.addedSeconds(), clamp: fields.flag("clamp")))
    case .addElapsedTime:
      try fields.change(.addElapsedTime(fields.addedSeconds(), clamp: fields.flag("clamp")))
    case .lap: try fields.change(.lap)
    case .message: try fields.change(.message(fields.speakerText()))
    case .signal: try fields.change(.signal(fields.signal()))
    case .remove: try fields.change(.remove)
    case .get: .get(try fields.timer())
    case .list: try fields.list()
    case .subscribe:
      .subscribe(
        try fields.selection(), interval: try fields.interval(), since: try fields.since(),
        inParts: try fields.flag("parts"))
    case .unsubscribe: .unsubscribe(try fields.selection())
    case .sync: .sync(clientTime: try fields.clientTime())
    case .authenticate: .authenticate(token: try fields.token())
    }
  }
}
