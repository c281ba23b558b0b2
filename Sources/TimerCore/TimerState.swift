public import FoundationEssentials

/// A run as it was seen at one instant.
public struct TimerState: Codable, Hashable, Sendable {
  /// The start of the run; time added to a stopwatch moves it back.
  public var startDate: Date
  /// Seconds counted, without the pauses; never below zero.
  public var elapsedTime: TimeInterval
  /// The run's status: running, paused or finished.
  public var status: TimerStatus
  /// The type; a countdown's duration includes added time.
  public var type: RestoreType
  /// The pauses of the run, oldest first; only the last may be open.
  public var pausePeriods: [PausePeriod]
  /// The instant at which this was seen.
  public var lastElapsedTimeCalculatedAt: Date

  /// A state with exactly these values; nothing is computed or checked. `elapsedTime` is in seconds.
  public init(
    startDate: Date, elapsedTime: TimeInterval, status: TimerStatus, type: RestoreType,
    pausePeriods: [PausePeriod], lastElapsedTimeCalculatedAt: Date
  ) {
    self.startDate = startDate
    self.elapsedTime = elapsedTime
    self.status = status
    self.type = type
    self.pausePeriods = pausePeriods
    self.lastElapsedTimeCalculatedAt = lastElapsedTimeCalculatedAt
  }

  /// The displayed time in seconds: a stopwatch's elapsed time, or a countdown's remaining time, which is negative past
  /// zero.
  public var time: TimeInterval {
    switch type {
    case .stopwatch: elapsedTime
    case .timer(let duration):
      (Seconds(clamping: duration) - Seconds(clamping: elapsedTime)).inSeconds
    }
  }
}

// MARK: - Dates to show it by

extension TimerState {
  /// The date from which a label can count by itself: where a stopwatch would have begun without its pauses,
  /// where a countdown gets to zero. It goes with `lastElapsedTimeCalculatedAt`, whenever it is read.
  public var displayDate: Date {
    switch type {
    case .stopwatch: lastElapsedTimeCalculatedAt.addingTimeInterval(-elapsedTime)
    case .timer: lastElapsedTimeCalculatedAt.addingTimeInterval(time)
    }
  }

  /// From where the count begins to where it ends: a countdown's zero, or where a stopwatch stands.
  package var timerInterval: ClosedRange<Date> {
    switch type {
    case .stopwatch:
      return standing.addingTimeInterval(-max(elapsedTime, 0))...standing
    case .timer(let duration):
      let zero = standing.addingTimeInterval(time)
      return min(zero.addingTimeInterval(-duration), zero)...zero
    }
  }

  /// The instant within `timerInterval` at which a paused timer stands; nil while it is not paused.
  package var pauseTime: Date? {
    isPaused ? standing : nil
  }

  /// Where the shown time is true: the pause, while there is one, else where it was seen.
  private var standing: Date {
    guard isPaused, let pause = pausePeriods.last?.pause else { return lastElapsedTimeCalculatedAt }
    return pause
  }

  private var isPaused: Bool {
    pausePeriods.last.map { $0.start == nil } ?? false
  }
}
