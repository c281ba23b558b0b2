import TimerCore

/// The commands by their names on the wire: each with its fields, and the request that these make.
enum Command: String, CaseIterable {
  case start, update, pause, resume, finish, finishAll, reset
  case addRemainingTime, addElapsedTime, lap, message, signal, remove
  case get, list, subscribe, unsubscribe, sync, authenticate

  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// The fields that it takes beside `id` and `command`.
  var fields: [RequestField] {
    switch self {
    case .start:
      [.timer, .duration, .type] + RequestField.settings + [.force] + RequestField.conditions
    case .update: [.timer] + Self.updated + RequestField.conditions
    case .pause, .resume, .reset, .lap, .remove: [.timer] + RequestField.conditions
    case .finish: [.timer, .resetTime] + RequestField.conditions
    case .finishAll: [.timer, .at, .requestId]
    case .addRemainingTime, .addElapsedTime: [.timer, .seconds, .clamp] + RequestField.conditions
    case .message: [.timer, .text] + RequestField.conditions
    case .signal: [.timer, .signal] + RequestField.conditions
    case .get: [.timer]
    case .list: [.limit, .after]
    case .subscribe: [.timer, .timers, .interval, .since, .parts]
    case .unsubscribe: [.timer, .timers]
    case .sync: [.clientTime]
    case .authenticate: [.token]
    }
  }

  /// The settings as an update's errors list them: what happens at zero comes last.
  static let updated =
    RequestField.settings.filter { $0.name != "atZero" }
    + RequestField.settings.filter { $0.name == "atZero" }

  func request(_ fields: RequestFields) throws(ErrorReply) -> ClientRequest {
    switch self {
    case .start: try fields.change(.start(fields.start()))
    case .update: try fields.change(.update(fields.update()))
    case .pause: try fields.change(.pause)
    case .resume: try fields.change(.resume)
    case .finish: try fields.change(.finish(resetTime: fields.flag(.resetTime)))
    case .finishAll: try fields.finishAll()
    case .reset: try fields.change(.reset)
    case .addRemainingTime:
      try fields.change(.addRemainingTime(fields.addedSeconds(), clamp: fields.flag(.clamp)))
    case .addElapsedTime:
      try fields.change(.addElapsedTime(fields.addedSeconds(), clamp: fields.flag(.clamp)))
    case .lap: try fields.change(.lap)
    case .message: try fields.change(.message(fields.speakerText()))
    case .signal: try fields.change(.signal(fields.signal()))
    case .remove: try fields.change(.remove)
    case .get: .get(try fields.timer())
    case .list: try fields.list()
    case .subscribe:
      .subscribe(
        try fields.selection(), interval: try fields.interval(), since: try fields.since(),
        inParts: try fields.flag(.parts))
    case .unsubscribe: .unsubscribe(try fields.selection())
    case .sync: .sync(clientTime: try fields.clientTime())
    case .authenticate: .authenticate(token: try fields.token())
    }
  }
}

extension Command {
  /// True if it may change timers: then it can be repeated under an idempotency key.
  var isChange: Bool {
    fields.contains(.requestId)
  }

  /// True if a URL can be the whole request.
  private var isInURL: Bool {
    isChange || self == .list
  }

  /// The kinds of all fields that a URL's query may have; a name has one kind, whatever the command.
  static let kindsInURL = Dictionary(
    allCases.filter(\.isInURL).flatMap(\.fields).map { ($0.name, $0.kind) },
    uniquingKeysWith: { first, _ in first })
}
