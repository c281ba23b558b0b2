import Foundation
import TimerCore

/// The runs of timers in a data source, by id. Each call is one step, that no other comes between.
struct TimerRuns: Sendable {
  let dataSource: any DataSource

  func run(_ id: String?) throws -> RestoreTimerData {
    guard let run = try dataSource.run(forKey: TimerKey(id: id)) else {
      throw PersistableTimerClientError.timerHasNotStarted
    }
    return run
  }

  func start(
    _ id: String?, _ type: RestoreType, at now: Date, force: Bool
  ) throws -> RestoreTimerData {
    guard let type = try? type.checked() else {
      throw TimerDataError.invalidDuration(type.givenDuration)
    }
    let key = TimerKey(id: id)
    return try dataSource.edit { _, read in
      if !force, let held = try read(key), held.status != .finished {
        throw PersistableTimerClientError.timerAlreadyStarted
      }
      let run = RestoreTimerData(startDate: now, pausePeriods: [], type: type)
      return ([key: run], run)
    }
  }

  /// Applies a transition to a run and stores the result.
  func change(
    _ id: String?, _ transition: (RestoreTimerData) throws(TimerRefusal) -> RestoreTimerData
  ) throws -> RestoreTimerData {
    try change(id, isLast: false, transition)
  }

  func finish(_ id: String?, at now: Date) throws -> RestoreTimerData {
    try change(id, isLast: true) { run throws(TimerRefusal) in try run.finished(at: now) }
  }

  private func change(
    _ id: String?, isLast: Bool,
    _ transition: (RestoreTimerData) throws(TimerRefusal) -> RestoreTimerData
  ) throws -> RestoreTimerData {
    let key = TimerKey(id: id)
    return try dataSource.edit { _, read in
      guard let run = try read(key) else { throw PersistableTimerClientError.timerHasNotStarted }
      let next: RestoreTimerData
      do throws(TimerRefusal) { next = try transition(run) } catch { throw error.forClients }
      return ([key: isLast ? nil : next], next)
    }
  }

  /// Finishes and forgets every run in one step; records that are damaged stay.
  func finishAll(at now: Date) throws -> [String?: RestoreTimerData] {
    try dataSource.edit { keys, read in
      var edits: [TimerKey: RestoreTimerData?] = [:]
      var finished: [String?: RestoreTimerData] = [:]
      for key in try keys() {
        guard let run = try? read(key), let end = try? run.finished(at: now) else { continue }
        edits.updateValue(nil, forKey: key)
        finished.updateValue(end, forKey: key.id)
      }
      return (edits, finished)
    }
  }
}

extension TimerRuns {
  func addRemaining(
    _ id: String?, _ amount: TimeInterval, at now: Date
  ) throws -> RestoreTimerData {
    try add(amount) { seconds in
      try change(id) { run throws(TimerRefusal) in
        try run.addingRemaining(seconds, at: Instant(now))
      }
    }
  }

  func addElapsed(
    _ id: String?, _ amount: TimeInterval, at now: Date
  ) throws -> RestoreTimerData {
    try add(amount) { seconds in
      try change(id) { run throws(TimerRefusal) in
        try run.addingElapsed(seconds, at: Instant(now))
      }
    }
  }

  /// A value that is no number, or too large, is clamped first, so that the refusal names the nearest allowed one, or
  /// the timer's own reason.
  private func add(
    _ amount: TimeInterval, _ body: (Seconds) throws -> RestoreTimerData
  ) throws -> RestoreTimerData {
    do {
      return try body(Seconds(clamping: amount.isNaN ? -.infinity : amount))
    } catch TimerRefusal.outOfRange(_, let limit) {
      throw TimerDataError.invalidAmount(amount, nearest: amount.isNaN ? 0 : limit.inSeconds)
    }
  }
}

extension RestoreType {
  fileprivate var givenDuration: TimeInterval {
    if case .timer(let duration) = self { duration } else { 0 }
  }
}

extension TimerRefusal {
  /// The error for users of this library; numbers come with the requested ones.
  fileprivate var forClients: any Error {
    switch self {
    case .timerHasNotStarted, .unknownTimer: PersistableTimerClientError.timerHasNotStarted
    case .timerHasNotPaused: PersistableTimerClientError.timerHasNotPaused
    case .timerAlreadyPaused: PersistableTimerClientError.timerAlreadyPaused
    case .timerAlreadyStarted: PersistableTimerClientError.timerAlreadyStarted
    case .invalidTimerType: PersistableTimerClientError.invalidTimerType
    case .outOfRange, .tooManyLaps, .pressOutOfRange, .revisionMismatch, .runMismatch,
      .contradiction:
      self
    }
  }
}
