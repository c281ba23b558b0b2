/// A shared timer as it is seen at one instant: every figure of it comes from that one reading.
public struct TimerReading: Hashable, Sendable {
  public let timer: SharedTimer
  public let instant: Instant
  public let elapsed: Seconds

  public init(_ timer: SharedTimer, at instant: Instant) {
    self.timer = timer
    self.instant = instant
    elapsed = timer.elapsed(at: instant)
  }

  /// The displayed time: a stopwatch's elapsed time, or a countdown's remaining time, negative in overtime.
  public var time: Seconds {
    timer.type.duration.map { $0 - elapsed } ?? elapsed
  }

  /// nil: idle.
  public var status: TimerStatus? {
    timer.run?.status
  }
}

extension SharedTimer {
  /// The time counted in the current run.
  ///
  /// A countdown that does not count below zero stays at zero until its crossing is reported.
  func elapsed(at now: Instant) -> Seconds {
    guard let run else { return .zero }
    guard !settings.atZero.countsBelowZero, let zero = zeroInstant else {
      return run.elapsed(at: now)
    }
    return run.elapsed(at: min(now, zero))
  }
}

// MARK: - The timer's own seconds

extension SharedTimer {
  /// The first instant after `now` at which the displayed time is a whole multiple of `interval`; nil when time does
  /// not pass, or stays at zero until the crossing is reported.
  ///
  /// Zero itself is left out: the crossing stands for it.
  public func nextTick(after now: Instant, every interval: Seconds) -> Instant? {
    guard let run, let tick = run.nextMultiple(of: interval, after: now) else { return nil }
    guard run.type.duration != nil else { return tick }
    let goesOn = settings.atZero.countsBelowZero
    guard tick != run.zeroInstant else { return goesOn ? tick + interval : nil }
    if !goesOn, let zero = zeroInstant, tick >= zero { return nil }
    return tick
  }
}

extension RestoreTimerData {
  /// The first instant after `now` at which the time shown is a whole multiple of `interval`, zero included;
  /// nil when time does not pass, or for an interval that is not above zero.
  public func nextMultiple(of interval: Seconds, after now: Instant) -> Instant? {
    guard status == .running, interval > .zero else { return nil }
    // Counting down to a multiple is counting up to one of the negated time.
    let position = remaining(at: now).map { -$0 } ?? elapsed(at: now)
    return now + interval.untilMultiple(after: position)
  }
}

extension Seconds {
  /// The time from `position` to the next whole multiple of this length; never zero.
  public func untilMultiple(after position: Seconds) -> Seconds {
    let past = position.microseconds % microseconds
    return Seconds(microseconds: microseconds - (past < 0 ? past + microseconds : past))
  }
}
