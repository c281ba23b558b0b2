import TimerCore

/// Limits the log lines of a trouble that comes and goes, and still logs its final state.
///
/// The first occurrence and its end are logged at once. A recurrence is logged after a pause, which grows with each
/// one, if the trouble still lasts by then.
struct TroubleLog<Trouble: Equatable> {
  enum Line {
    case trouble(Trouble)
    case end
  }

  /// nil: there is none.
  private var present: Trouble?
  /// The trouble that was logged last; nil after its end, and at first.
  private var logged: Trouble?
  private var troubleLoggedAt: Instant?
  private var pause = Self.pauseMin

  private static var pauseMin: Seconds { 1 }
  private static var pauseMax: Seconds { 10 }
  /// After so long without a line of trouble, the next one is a first one.
  private static var quiet: Seconds { 60 }

  /// Updates the present state; nil: no trouble.
  mutating func update(_ trouble: Trouble?) {
    present = trouble
  }

  /// Returns what has to be logged now; nil if nothing is due.
  mutating func popLine(at now: Instant) -> Line? {
    guard present != logged else { return nil }
    guard let present else {
      logged = nil
      return .end
    }
    if let last = troubleLoggedAt {
      guard now >= last + pause else { return nil }
      pause = now < last + Self.quiet ? min(pause * 2, Self.pauseMax) : Self.pauseMin
    }
    (logged, troubleLoggedAt) = (present, now)
    return .trouble(present)
  }
}
