import TimerProtocol

/// Counts for the metrics, and lines for the log, that come of a refusal.
extension Hub {
  /// Counts a refusal, and logs it if an option could have prevented it.
  mutating func count(_ code: ErrorCode, _ turn: inout Turn) {
    counters.refusals[code, default: 0] += 1
    switch code {
    // An unknown token is logged separately.
    case .unauthorized: turn.actions.refusals.append(.noToken)
    case .tooManyTimers: turn.actions.refusals.append(.tooManyTimers)
    case .tooManySubscriptions: turn.actions.refusals.append(.tooManySubscriptions)
    default: break
    }
  }
}
