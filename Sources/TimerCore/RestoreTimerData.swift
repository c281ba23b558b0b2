public import FoundationEssentials

/// One run of a timer: all that is needed to go on after a restart.
public struct RestoreTimerData: Codable, Hashable, Sendable {
  /// The start of the run; time added to a stopwatch moves it back.
  public var startDate: Date
  /// Oldest first; only the last may be open.
  public var pausePeriods: [PausePeriod]
  /// The type; a countdown's duration includes added time.
  public var type: RestoreType
  /// When it was finished; nil while it runs or is paused.
  public var stopDate: Date?

  /// A run with exactly these values; nothing is checked.
  public init(
    startDate: Date, pausePeriods: [PausePeriod], type: RestoreType, stopDate: Date? = nil
  ) {
    self.startDate = startDate
    self.pausePeriods = pausePeriods
    self.type = type
    self.stopDate = stopDate
  }

  /// The run as seen at `now`. An open pause ends the count, and so does `stopDate`.
  public func elapsedTimeAndStatus(now: Date) -> TimerState {
    TimerState(
      startDate: startDate, elapsedTime: elapsed(at: Instant(now)).inSeconds, status: status,
      type: type, pausePeriods: pausePeriods, lastElapsedTimeCalculatedAt: now)
  }
}

// MARK: - What a run is at an instant

extension RestoreTimerData {
  /// A run that begins at `now`.
  public init(_ type: RestoreType, startingAt now: Instant) {
    self.init(startDate: now.date, pausePeriods: [], type: type)
  }

  /// Finished with a `stopDate`, else paused with an open pause, else running.
  public var status: TimerStatus {
    if stopDate != nil { return .finished }
    return openPause == nil ? .running : .paused
  }

  /// Time counted up to `now`; never below zero.
  public func elapsed(at now: Instant) -> Seconds {
    max(.zero, (countEnd ?? now) - Instant(startDate) - pausedTime)
  }

  /// A countdown's time left at `now`, negative in overtime; nil for a stopwatch.
  public func remaining(at now: Instant) -> Seconds? {
    type.duration.map { $0 - elapsed(at: now) }
  }

  /// When a countdown that runs gets to zero, or got there; nil for all others.
  public var zeroInstant: Instant? {
    guard status == .running, let duration = type.duration else { return nil }
    return Instant(startDate) + pausedTime + duration
  }

  private var openPause: Instant? {
    guard let last = pausePeriods.last, last.start == nil else { return nil }
    return Instant(last.pause)
  }

  /// The instant at which counting stopped; nil while it continues.
  private var countEnd: Instant? {
    openPause ?? stopDate.map(Instant.init)
  }

  /// The sum of the pauses that are over.
  private var pausedTime: Seconds {
    pausePeriods.reduce(.zero) { $0 + ($1.length ?? .zero) }
  }
}

// MARK: - What can happen to a run

// Each transition takes an instant of the server clock, or a date, which is kept as it was given, below the microsecond
// too.
extension RestoreTimerData {
  /// The run with a pause from `now` on.
  public func paused(at now: Instant) throws(TimerRefusal) -> Self {
    try paused(at: now.date)
  }

  /// The run with a pause from `now` on. Beyond 64 pauses the oldest two become one.
  public func paused(at now: Date) throws(TimerRefusal) -> Self {
    switch status {
    case .finished: throw .timerHasNotStarted
    case .paused: throw .timerAlreadyPaused
    case .running: break
    }
    var next = self
    next.pausePeriods.append(PausePeriod(pause: now, start: nil))
    next.mergeOldestPauses()
    return next
  }

  /// The run going on from `now`.
  public func resumed(at now: Instant) throws(TimerRefusal) -> Self {
    try resumed(at: now.date)
  }

  /// The run going on from `now`.
  public func resumed(at now: Date) throws(TimerRefusal) -> Self {
    switch status {
    case .finished: throw .timerHasNotStarted
    case .running: throw .timerHasNotPaused
    case .paused: break
    }
    var next = self
    next.pausePeriods[next.pausePeriods.count - 1].start = now
    return next
  }

  /// Ends the run. With `resetTime` it shows zero elapsed afterwards, as one that never counted.
  public func finished(at now: Instant, resetTime: Bool = false) throws(TimerRefusal) -> Self {
    try finished(at: now.date, resetTime: resetTime)
  }

  /// Ends the run. With `resetTime` it shows zero elapsed afterwards, as one that never counted.
  public func finished(at now: Date, resetTime: Bool = false) throws(TimerRefusal) -> Self {
    guard status != .finished else { throw .timerHasNotStarted }
    var next =
      resetTime ? RestoreTimerData(startDate: now, pausePeriods: [], type: type) : self
    next.stopDate = now
    return next
  }

  /// Makes the time left `seconds` longer; the elapsed time stays what it is.
  ///
  /// A result below zero, or over the longest countdown, is refused with the amount that would just do;
  /// `clamp` takes that amount instead.
  public func addingRemaining(
    _ seconds: Seconds, at now: Instant, clamp: Bool = false
  ) throws(TimerRefusal) -> Self {
    guard status != .finished else { throw .timerHasNotStarted }
    guard let duration = type.duration, let remaining = remaining(at: now) else {
      throw .invalidTimerType
    }
    let allowed = try Self.allowed(seconds, to: remaining, clamp: clamp)
    var next = self
    next.type = .countdown(duration + allowed)
    return next
  }

  /// Sets a stopwatch on, or back for a negative amount; it continues from the new value.
  ///
  /// Refused and clamped as in `addingRemaining`. Setting back ends at `floor`, so that the last lap stays true.
  public func addingElapsed(
    _ seconds: Seconds, at now: Instant, notBelow floor: Seconds = .zero, clamp: Bool = false
  ) throws(TimerRefusal) -> Self {
    guard status != .finished else { throw .timerHasNotStarted }
    guard type == .stopwatch else { throw .invalidTimerType }
    let elapsed = elapsed(at: now)
    let allowed = try Self.allowed(
      seconds, to: elapsed, notBelow: min(floor, elapsed), clamp: clamp)
    var next = self
    next.startDate = (Instant(startDate) - allowed).date
    return next
  }

  /// The time counted at `now`, as one more lap beside `laps`.
  func lap(at now: Instant, after laps: [Seconds]) throws(TimerRefusal) -> Seconds {
    guard status != .finished else { throw .timerHasNotStarted }
    guard type == .stopwatch else { throw .invalidTimerType }
    guard status != .paused else { throw .timerAlreadyPaused }
    guard laps.count < TimerLimits.lapsMax else { throw .tooManyLaps }
    return elapsed(at: now)
  }

  /// The amount that may be added to `value` so that the sum lies between `floor` and the longest length.
  private static func allowed(
    _ seconds: Seconds, to value: Seconds, notBelow floor: Seconds = .zero, clamp: Bool
  ) throws(TimerRefusal) -> Seconds {
    // A time that has grown beyond the longest length by itself may still be made shorter.
    let range = (floor - value)...max(TimerLimits.durationMax - value, .zero)
    if range.contains(seconds) { return seconds }
    let limit = seconds < range.lowerBound ? range.lowerBound : range.upperBound
    guard clamp else { throw .outOfRange(field: "seconds", limit: limit) }
    return limit
  }

  private mutating func mergeOldestPauses() {
    while pausePeriods.count > TimerLimits.pausePeriodsMax {
      let first = pausePeriods.removeFirst()
      pausePeriods[0] = first.merged(with: pausePeriods[0])
    }
  }
}
