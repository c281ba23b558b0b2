public import TimerCore

/// The codes of an error, as the wire spells them.
public enum ErrorCode: String, CaseIterable, Sendable {
  case timerHasNotStarted, timerHasNotPaused, timerAlreadyPaused, timerAlreadyStarted
  case invalidTimerType, badRequest, outOfRange, unknownCommand, unknownTimer, revisionMismatch
  case runMismatch
  case unauthorized, forbidden, tooManyTimers, tooManySubscriptions, rateLimited
  case storageFailed, shuttingDown
  /// Sent over HTTP only: nothing has this path, or it does not accept the method.
  case notFound, methodNotAllowed

  /// True if the same request may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .rateLimited, .storageFailed, .shuttingDown: true
    default: false
    }
  }

  /// The status of an HTTP answer with this error.
  public var httpStatus: Int {
    switch self {
    case .badRequest, .outOfRange, .unknownCommand: 400
    case .unauthorized: 401
    case .forbidden: 403
    case .unknownTimer, .notFound: 404
    case .methodNotAllowed: 405
    case .timerHasNotStarted, .timerHasNotPaused, .timerAlreadyPaused, .timerAlreadyStarted,
      .invalidTimerType, .revisionMismatch, .runMismatch:
      409
    case .tooManyTimers, .tooManySubscriptions, .rateLimited: 429
    case .shuttingDown: 503
    case .storageFailed: 507
    }
  }
}

/// An error with its message: what is wrong, and what would be right. All errors get their words here.
public struct ErrorReply: Error, Hashable, Sendable {
  public let code: ErrorCode
  public let message: String
  /// The nearest amount that would be accepted.
  public let limit: Seconds?
  /// The field whose value is refused, where no nearest amount would be accepted in its place.
  public let field: String?
  /// Whether the same request may succeed later.
  public let isRetryable: Bool

  public init(
    _ code: ErrorCode, _ message: String, limit: Seconds? = nil, field: String? = nil,
    isRetryable: Bool? = nil
  ) {
    self.code = code
    self.message = message
    self.limit = limit
    self.field = field
    self.isRetryable = isRetryable ?? code.isRetryable
  }

  static func badRequest(_ message: String) -> ErrorReply {
    ErrorReply(.badRequest, message)
  }
}

extension ErrorReply {
  /// A refusal of the rules, in words.
  public init(_ refusal: TimerRefusal, timer id: TimerID) {
    let name = quoted(id.name)
    switch refusal {
    case .timerHasNotStarted:
      self.init(.timerHasNotStarted, "timer \(name) isn't running; send \"start\" first")
    case .timerHasNotPaused:
      self.init(.timerHasNotPaused, "timer \(name) is running; only a paused one can be resumed")
    case .timerAlreadyPaused:
      self.init(.timerAlreadyPaused, "timer \(name) is paused already; send \"resume\" to continue")
    case .timerAlreadyStarted:
      self.init(
        .timerAlreadyStarted,
        "timer \(name) runs or is paused; send \"finish\" first, or start it with \"force\":true")
    case .invalidTimerType:
      self.init(
        .invalidTimerType,
        "timer \(name) is of the other type: addRemainingTime is for countdowns, addElapsedTime and lap "
          + "for stopwatches")
    case .tooManyLaps:
      self.init(
        .outOfRange,
        "timer \(name) has \(TimerLimits.lapsMax) laps, the maximum; \"reset\" or a new "
          + "\"start\" clears them",
        limit: Seconds(microseconds: Int64(TimerLimits.lapsMax) * 1_000_000))
    case .unknownTimer:
      self.init(.unknownTimer, "there is no timer \(name); \"start\" makes one, \"list\" shows all")
    case .revisionMismatch(let current):
      self.init(
        .revisionMismatch,
        "timer \(name) is at revision \(current); read it again, then send that as \"ifRevision\""
      )
    case .runMismatch:
      self.init(
        .runMismatch,
        "timer \(name) is in another run than the one of \"ifRun\"; read it again, then send its "
          + "\"run\", or 0 where it has none")
    case .outOfRange(let field, let limit):
      self.init(
        .outOfRange, "\"\(field)\" is out of range; the nearest allowed is \(limit.text)",
        limit: limit)
    case .pressOutOfRange:
      self.init(
        .outOfRange,
        "\"at\" has to lie between 2 s ago and now on the server clock, and not before the last "
          + "change of the timer's run; leave it out, or send \"sync\" first",
        field: "at")
    case .contradiction(let why):
      self.init(.badRequest, why)
    }
  }

  /// The disk refused a change; the disk's own error goes to the server's log.
  public static let storageFailed = ErrorReply(
    .storageFailed, "the change could not be written to disk and was not made; try again")
  /// Other servers' changes of the timer always came first.
  public static let overtaken = ErrorReply(
    .storageFailed,
    "the timer was changed elsewhere again and again, and this change was not made; try again")
  /// The server is stopping.
  public static let shuttingDown = ErrorReply(
    .shuttingDown, "the server is stopping and the change was not made; connect again and repeat it"
  )
}
