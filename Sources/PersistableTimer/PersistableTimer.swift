public import Foundation
public import TimerCore

/// A stopwatch or a countdown that continues when the program is restarted.
///
/// Every method may be called on any thread. A method that changes the timer returns when the change is stored, and may
/// wait for the disk. When the object is released its streams end.
public final class PersistableTimer: Sendable {
  let engine: TimerEngine

  /// - Parameters:
  ///   - id: names the timer among those of its data source; nil: the default timer.
  ///   - dataSourceType: where it is kept.
  ///   - shouldEmitTimeStream: whether `timeStream` sends states; otherwise it ends at once.
  ///   - updateInterval: seconds between two states of a running timer; at least a millisecond.
  ///   - useFoundationTimer: makes no difference here: ticks need no run loop.
  ///   - now: returns the current time, on any thread.
  public init(
    id: String? = nil, dataSourceType: DataSourceType, shouldEmitTimeStream: Bool = true,
    updateInterval: TimeInterval = 1, useFoundationTimer: Bool = false,
    now: @escaping () -> Date = { Date() }
  ) {
    engine = TimerEngine(
      id: id, runs: TimerRuns(dataSource: dataSourceType.dataSource),
      emitsTimes: shouldEmitTimeStream, interval: updateInterval, clock: Clock(now: now))
  }

  deinit {
    engine.end()
  }

  // MARK: Streams

  /// The timer's states: at each change, and while it runs at each whole multiple of the interval, as the timer shows
  /// it: a countdown of 10.5 s sends 10, 9, 8 ….
  ///
  /// Each access returns a new stream, which receives every state from then on; the first is the present one, when this
  /// object has started or restored a timer. It continues through pauses, and ends with `finish`, after the finished
  /// state, or with this object. Changes by others who use the same data source are seen at the next tick.
  public var timeStream: AsyncStream<TimerState> { engine.times() }

  /// Sends a countdown's state at zero, once.
  ///
  /// It sends another one only for another zero: after time was added in overtime, or for another run. A zero before
  /// `restore` is not sent. Each access returns a new stream, which ends like `timeStream`.
  public var countdownEnded: AsyncStream<TimerState> { engine.ends() }

  // MARK: Looking

  /// The timer that is held; never nil.
  /// - Throws: `PersistableTimerClientError.timerHasNotStarted` when there is none,
  ///   `TimerDataError.damagedRecord` when the stored value is no timer.
  public func getTimerData() throws -> RestoreTimerData? {
    try engine.run()
  }

  /// Returns whether there is a timer, running or paused.
  public func isTimerRunning() -> Bool {
    (try? engine.run()) != nil
  }

  /// Restores the stored timer after a start of the program: its state goes to the streams, and it ticks if it runs.
  /// - Throws: as `getTimerData`.
  @discardableResult
  public func restore() throws -> RestoreTimerData {
    try engine.restore()
  }

  // MARK: Changing

  /// Starts a stopwatch or a countdown; with `forceStart` in place of a stored one.
  /// - Throws: `PersistableTimerClientError.timerAlreadyStarted`; `TimerDataError.invalidDuration` for a countdown of
  ///   0 seconds or less, or more than a year; `TimerDataError.damagedRecord`, without force, when the stored value is
  ///   no timer; the disk's error.
  @discardableResult
  public func start(type: RestoreType, forceStart: Bool = false) async throws -> RestoreTimerData {
    try engine.change { runs, id, now in try runs.start(id, type, at: now, force: forceStart) }
  }

  /// Resumes after a pause.
  /// - Throws: `timerHasNotStarted`, `timerHasNotPaused`, the disk's error.
  @discardableResult
  public func resume() async throws -> RestoreTimerData {
    try engine.change { runs, id, now in
      try runs.change(id) { run throws(TimerRefusal) in try run.resumed(at: now) }
    }
  }

  /// Pauses.
  /// - Throws: `timerHasNotStarted`, `timerAlreadyPaused`, the disk's error.
  @discardableResult
  public func pause() async throws -> RestoreTimerData {
    try engine.change { runs, id, now in
      try runs.change(id) { run throws(TimerRefusal) in try run.paused(at: now) }
    }
  }

  /// Ends the timer and removes it. The streams get the finished state, with `isResetTime` one of 0 seconds elapsed,
  /// and end. Its last state is returned, with its `stopDate`.
  /// - Throws: `timerHasNotStarted`, the disk's error.
  @discardableResult
  public func finish(isResetTime: Bool = false) async throws -> RestoreTimerData {
    try engine.finish(isResetTime: isResetTime)
  }

  /// Makes the time left of a countdown `extraTime` seconds longer, or shorter for a negative amount.
  /// - Throws: `timerHasNotStarted`; `invalidTimerType` for a stopwatch; `TimerDataError.invalidAmount` when the time
  ///   left would fall under zero or grow over a year; the disk's error.
  @discardableResult
  public func addRemainingTime(_ extraTime: TimeInterval) async throws -> RestoreTimerData {
    try engine.change { runs, id, now in try runs.addRemaining(id, extraTime, at: now) }
  }

  /// Sets a stopwatch `extraTime` seconds on, or back for a negative amount; it counts on from there.
  /// - Throws: `timerHasNotStarted`; `invalidTimerType` for a countdown; `TimerDataError.invalidAmount` when the time
  ///   elapsed would fall under zero or grow over a year; the disk's error.
  @discardableResult
  public func addElapsedTime(_ extraTime: TimeInterval) async throws -> RestoreTimerData {
    try engine.change { runs, id, now in try runs.addElapsed(id, extraTime, at: now) }
  }
}
