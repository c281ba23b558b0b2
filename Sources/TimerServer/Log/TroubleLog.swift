import TimerCore

/// Keeps a trouble that comes and goes from filling the log, without leaving what is over as the log's last word.
///
/// The first of a trouble is told at once, and so is its end. One that comes back is told after a pause, which grows while
/// it goes on like that, if it is still there by then.
struct TroubleLog<Trouble: Equatable> {
  enum News {
    case trouble(Trouble)
    case end
  }

  /// nil: there is none.
  private var present: Trouble?
  /// What the log said last; nil: that there is none, or nothing yet.
  private var logged: Trouble?
  private var troubleLoggedAt: Instant?
  private var pause = Self.pauseMin

  private static var pauseMin: Seconds { 1 }
  private static var pauseMax: Seconds { 10 }
  /// After so long without a line of trouble, the next one is a first one.
  private static var quiet: Seconds { 60 }

  /// How it is from here on.
  mutating func update(_ trouble: Trouble?) {
    present = trouble
  }

  /// What the log has to say now; nil: nothing, or not yet.
  mutating func popNews(at now: Instant) -> News? {
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
