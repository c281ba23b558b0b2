public import Foundation
public import TimerCore

/// Timers that are kept under ids of their own; nil is the id of the default one.
///
/// Every call is one step: of two at once on one timer one comes first, and the other finds what that one left.
/// All may be called on any thread; one that changes something returns when the change is kept, and may wait
/// for the disk meanwhile.
public struct RestoreTimerContainer: Sendable {
  private let runs: TimerRuns

  /// Keeps timers in an app's defaults.
  public init(userDefaults: UserDefaults) {
    self.init(dataSourceType: .userDefaults(userDefaults))
  }

  /// Keeps timers in the given data source.
  public init(dataSourceType: DataSourceType) {
    self.init(dataSource: dataSourceType.dataSource)
  }

  package init(dataSource: any DataSource) {
    runs = TimerRuns(dataSource: dataSource)
  }

  /// The timer that is held under an id.
  /// - Throws: `PersistableTimerClientError.timerHasNotStarted` when there is none,
  ///   `TimerDataError.damagedRecord` when the stored value is no timer.
  public func getTimerData(id: String? = nil) throws -> RestoreTimerData {
    try runs.run(id)
  }

  /// Returns whether there is a timer, running or paused.
  public func isTimerRunning(id: String? = nil) -> Bool {
    (try? runs.run(id)) != nil
  }

  /// Starts a timer at `now`; with `forceStart` in place of a stored one.
  /// - Throws: `timerAlreadyStarted`; `TimerDataError.invalidDuration` for a countdown of no more than 0 seconds
  ///   or more than a year; `TimerDataError.damagedRecord`, without force, when the stored value is no timer;
  ///   the disk's error.
  @discardableResult
  public func start(
    id: String? = nil, now: Date = Date(), type: RestoreType, forceStart: Bool = false
  ) async throws -> RestoreTimerData {
    try runs.start(id, type, at: now, force: forceStart)
  }

  /// Resumes a paused timer.
  /// - Throws: `timerHasNotStarted`, `timerHasNotPaused`, the disk's error.
  @discardableResult
  public func resume(id: String? = nil, now: Date = Date()) async throws -> RestoreTimerData {
    try runs.change(id) { run throws(TimerRefusal) in try run.resumed(at: now) }
  }

  /// Pauses a running timer. Up to 64 pauses are kept apart; of more, the oldest are merged.
  /// - Throws: `timerHasNotStarted`, `timerAlreadyPaused`, the disk's error.
  @discardableResult
  public func pause(id: String? = nil, now: Date = Date()) async throws -> RestoreTimerData {
    try runs.change(id) { run throws(TimerRefusal) in try run.paused(at: now) }
  }

  /// Ends a timer and removes it; returns its last state, with its `stopDate`.
  /// - Throws: `timerHasNotStarted`, the disk's error.
  @discardableResult
  public func finish(id: String? = nil, now: Date = Date()) async throws -> RestoreTimerData {
    try runs.finish(id, at: now)
  }

  /// Ends and removes every timer in one step; returns them by their ids. Records that are no timers stay.
  /// - Throws: the disk's error; no timer has ended then.
  @discardableResult
  public func finishAll(now: Date = Date()) async throws -> [String?: RestoreTimerData] {
    try runs.finishAll(at: now)
  }

  /// Makes the time left of a countdown `extraTime` seconds longer, or shorter for a negative amount; running,
  /// paused or in overtime.
  /// - Throws: `timerHasNotStarted`; `invalidTimerType` for a stopwatch; `TimerDataError.invalidAmount` when the time
  ///   left would fall under zero or grow over a year; the disk's error.
  @discardableResult
  public func addRemainingTime(
    id: String? = nil, extraTime: TimeInterval, now: Date = Date()
  ) async throws -> RestoreTimerData {
    try runs.addRemaining(id, extraTime, at: now)
  }

  /// Sets a stopwatch `extraTime` seconds on, or back for a negative amount; it counts on from there.
  /// - Throws: `timerHasNotStarted`; `invalidTimerType` for a countdown; `TimerDataError.invalidAmount` when the time
  ///   elapsed would fall under zero or grow over a year; the disk's error.
  @discardableResult
  public func addElapsedTime(
    id: String? = nil, extraTime: TimeInterval, now: Date = Date()
  ) async throws -> RestoreTimerData {
    try runs.addElapsed(id, extraTime, at: now)
  }
}

extension RestoreTimerData {
  /// The run as seen now.
  public func elapsedTimeAndStatus() -> TimerState {
    elapsedTimeAndStatus(now: Date())
  }
}
