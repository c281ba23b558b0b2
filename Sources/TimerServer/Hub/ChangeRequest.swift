import TimerCore
import TimerProtocol
import WebSocketTransport

/// A request for a change, kept until it is answered: it may have to be decided again.
struct ChangeRequest {
  let message: ClientMessage
  let requester: Requester
  let caller: Caller
  let receivedAt: Instant
  /// How often it was decided before, on states that other servers' changes have overtaken.
  var overtakenCount = 0

  /// The number of times that a request is decided again before it is refused.
  static let overtakenMax = 8

  init(_ message: ClientMessage, by requester: Requester, _ caller: Caller, at now: Instant) {
    self.message = message
    self.requester = requester
    self.caller = caller
    receivedAt = now
  }

  /// The instant at which it counts: that of its receipt, also when it is decided again later; never before the
  /// change that it is decided on.
  func instant(after timer: SharedTimer?) -> Instant {
    guard overtakenCount > 0, let timer else { return receivedAt }
    return max(receivedAt, timer.changedAt)
  }
}

/// Where an answer goes.
enum Requester: Hashable {
  /// The place in the connection's queue of replies is kept for it.
  case connection(ConnectionID, place: Int)
  case http(HTTPRequestID, Payer, network: String)
}

/// A requester that gets its reply when a change is durable.
struct Waiter {
  let request: ChangeRequest
  let answer: Answer
  /// The timer whose state is sent with an error.
  var timer: TimerID?
  /// The change's idempotency key, for its own requester.
  var key: ScopedIdempotencyKey?
  /// The timers that it may see.
  var scope = TimerScope.all

  var requester: Requester { request.requester }
  var tag: ReplyTag { request.message.tag }

  enum Answer {
    /// With the one timer that was changed; with none when it was removed.
    case changedTimer
    case changedTimers
    /// There was nothing to finish.
    case nothingFinished
    /// It was refused already, by rules that looked at a state not durable yet.
    case refusal(ErrorReply)
  }
}
