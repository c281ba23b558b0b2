public import FoundationEssentials

/// One pause of a run.
public struct PausePeriod: Codable, Hashable, Sendable {
  /// When counting stopped.
  public var pause: Date
  /// When counting went on; nil while it is still paused.
  public var start: Date?

  /// A pause from one date to another; `start` nil: it lasts.
  public init(pause: Date, start: Date?) {
    self.pause = pause
    self.start = start
  }
}

extension PausePeriod {
  /// The pause's length; nil while it lasts. Negative if a clock was set back meanwhile, so that the run's elapsed time
  /// stays what it was.
  var length: Seconds? {
    start.map { Instant($0) - Instant(pause) }
  }

  /// One pause as long as both, from the start of the first.
  func merged(with next: PausePeriod) -> PausePeriod {
    guard let first = length, let second = next.length else { return next }
    return PausePeriod(pause: pause, start: (Instant(pause) + first + second).date)
  }
}
