public import Foundation
public import TimerCore

/// A stopwatch or a countdown that goes on after the program was ended and started again.
///
/// All may be called on any thread. A call that changes the timer returns when the change is kept, and may wait
/// for the disk meanwhile. Once the object is gone its streams end, and nothing of it runs any more.
public final class PersistableTimer: Sendable {
  let engine: TimerEngine

  /// - Parameters:
  ///   - id: names the timer among those of its data source; nil: the default timer.
  ///   - dataSourceType: where it is kept.
  ///   - shouldEmitTimeStream: whether `timeStream` tells anything; without, it ends at once.
  ///   - updateInterval: seconds between two states of a running timer; at least a millisecond.
  ///   - useFoundationTimer: makes no difference here: ticks need no run loop.
  ///   - now: tells the time, on any thread.
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
  /// it: a countdown of 10.5 s tells 10, 9, 8 ….
  ///
  /// Each time this is read it is a stream of its own, that gets every state from then on; the first is the present
  /// one, when this object has started or restored a timer. It goes on through pauses, and ends with `finish`, after
  /// the finished state, or with this object. Changes by others who use the same data source are seen at the
  /// next tick.
  public var timeStream: AsyncStream<TimerState> { engine.times() }

  /// Tells when a countdown gets to zero: once, with its state at zero exactly.
  ///
  /// Again only for another zero: after time was added in overtime, or for another run. One that passed before
  /// `restore` is not told. Each time this is read it is a stream of its own; it ends as `timeStream` does.
  public var countdownEnded: AsyncStream<TimerState> { engine.ends() }

  // MARK: Looking

  /// The timer that is held; never nil.
  /// - Throws: `PersistableTimerClientError.timerHasNotStarted` when there is none,
  ///   `TimerDataError.damagedRecord` when what is there is no timer.
  public func getTimerData() throws -> RestoreTimerData? {
    try engine.run()
  }

  /// Whether a timer is held, running or paused.
  public func isTimerRunning() -> Bool {
    (try? engine.run()) != nil
  }

  /// Takes up the timer that is held, after a start of the program: its state goes to the streams, and it ticks if it
  /// runs.
  /// - Throws: as `getTimerData`.
  @discardableResult
  public func restore() throws -> RestoreTimerData {
    try engine.restore()
  }

  // MARK: Changing

  /// Starts a stopwatch or a countdown; with `forceStart` in place of one that is held.
  /// - Throws: `PersistableTimerClientError.timerAlreadyStarted`; `TimerDataError.invalidDuration` for a countdown of no
  ///   more than 0 seconds or more than a year; `TimerDataError.damagedRecord`, without force, when what is there
  ///   is no timer; what the disk said.
  @discardableResult
  public func start(type: RestoreType, forceStart: Bool = false) async throws -> RestoreTimerData {
    try engine.change { runs, id, now in try runs.start(id, type, at: now, force: forceStart) }
  }

  /// Goes on after a pause.
  /// - Throws: `timerHasNotStarted`, `timerHasNotPaused`, what the disk said.
  @discardableResult
  public func resume() async throws -> RestoreTimerData {
    try engine.change { runs, id, now in
      try runs.change(id) { run throws(TimerRefusal) in try run.resumed(at: now) }
    }
  }

  /// Pauses.
  /// - Throws: `timerHasNotStarted`, `timerAlreadyPaused`, what the disk said.
  @discardableResult
  public func pause() async throws -> RestoreTimerData {
    try engine.change { runs, id, now in
      try runs.change(id) { run throws(TimerRefusal) in try run.paused(at: now) }
    }
  }

  /// Ends the timer and forgets it. The streams get the finished state, with `isResetTime` one of 0 seconds elapsed,
  /// and end. What it was is returned, with its `stopDate`.
  /// - Throws: `timerHasNotStarted`, what the disk said.
  @discardableResult
  public func finish(isResetTime: Bool = false) async throws -> RestoreTimerData {
    try engine.finish(isResetTime: isResetTime)
  }

  /// Makes the time left of a countdown so many seconds longer, or shorter for a negative amount.
  /// - Throws: `timerHasNotStarted`; `invalidTimerType` for a stopwatch; `TimerDataError.invalidAmount` when the time
  ///   left would fall under zero or grow over a year; what the disk said.
  @discardableResult
  public func addRemainingTime(_ extraTime: TimeInterval) async throws -> RestoreTimerData {
    try engine.change { runs, id, now in try runs.addRemaining(id, extraTime, at: now) }
  }

  /// Sets a stopwatch so many seconds on, or back for a negative amount; it counts on from there.
  /// - Throws: `timerHasNotStarted`; `invalidTimerType` for a countdown; `TimerDataError.invalidAmount` when the time
  ///   elapsed would fall under zero or grow over a year; what the disk said.
  @discardableResult
  public func addElapsedTime(_ extraTime: TimeInterval) async throws -> RestoreTimerData {
    try engine.change { runs, id, now in try runs.addElapsed(id, extraTime, at: now) }
  }
}
