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
  private var told: Trouble?
  private var troubleToldAt: Instant?
  private var pause = Self.pauseMin

  private static var pauseMin: Seconds { 1 }
  private static var pauseMax: Seconds { 10 }
  /// After so long without a line of trouble, the next one is a first one.
  private static var quiet: Seconds { 60 }

  /// How it is from here on.
  mutating func follow(_ trouble: Trouble?) {
    present = trouble
  }

  /// What the log has to say now; nil: nothing, or not yet.
  mutating func takeNews(at now: Instant) -> News? {
    guard present != told else { return nil }
    guard let present else {
      told = nil
      return .end
    }
    if let last = troubleToldAt {
      guard now >= last + pause else { return nil }
      pause = now < last + Self.quiet ? min(pause * 2, Self.pauseMax) : Self.pauseMin
    }
    (told, troubleToldAt) = (present, now)
    return .trouble(present)
  }
}
