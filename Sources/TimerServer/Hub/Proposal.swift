import TimerCore
import TimerProtocol

/// A timer's next state, and its cause.
struct Proposal: Equatable {
  let id: TimerID
  /// nil: it is to be forgotten.
  var after: SharedTimer?
  let cause: SnapshotCause
  /// The crossings of zero that it consists of, oldest first; the last one leads to `after`. Empty for all else.
  var crossings: [ZeroCrossing] = []
  /// True if a subscriber is there to receive its crossings.
  var isDelivered = true
}

extension TimerCommand {
  /// The cause under which its snapshot goes out.
  var cause: SnapshotCause {
    switch self {
    case .start: .started
    case .update, .message, .signal: .updated
    case .pause: .paused
    case .resume: .resumed
    case .finish: .finished
    case .reset: .reset
    case .addRemainingTime, .addElapsedTime: .adjusted
    case .lap: .lapped
    // Forgetting has a message of its own.
    case .remove: .updated
    }
  }
}
