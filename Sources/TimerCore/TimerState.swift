public import FoundationEssentials

/// A run as it was seen at one instant.
public struct TimerState: Codable, Hashable, Sendable {
  public var startDate: Date
  /// Seconds counted, without the pauses; never below zero.
  public var elapsedTime: TimeInterval
  public var status: TimerStatus
  public var type: RestoreType
  public var pausePeriods: [PausePeriod]
  /// The instant at which this was seen.
  public var lastElapsedTimeCalculatedAt: Date

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

  /// What a display shows, in seconds: a stopwatch's elapsed time, a countdown's remaining time, which
  /// is negative past zero.
  public var time: TimeInterval {
    switch type {
    case .stopwatch: elapsedTime
    case .timer(let duration):
      (Seconds(clamping: duration) - Seconds(clamping: elapsedTime)).inSeconds
    }
  }
}
