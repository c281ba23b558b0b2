public import Foundation
import TimerCore

/// Why a timer does not do what it is asked for: exactly these, so that a program may switch over them.
public enum PersistableTimerClientError: Error, Hashable, Sendable {
  /// There is no timer: start it first.
  case timerHasNotStarted
  /// Only a paused timer can be resumed.
  case timerHasNotPaused
  /// It is paused already.
  case timerAlreadyPaused
  /// It runs or is paused: finish it first, or start with force.
  case timerAlreadyStarted
  /// A stopwatch has no remaining time, a countdown's elapsed time is not to be set.
  case invalidTimerType
}

/// Numbers that no timer takes, and records that are none.
public enum TimerDataError: Error, Hashable, Sendable, LocalizedError, CustomStringConvertible {
  /// A countdown lasts more than 0 seconds, up to a year.
  case invalidDuration(TimeInterval)
  /// The time left, or the time elapsed, would fall under zero or grow over a year; `nearest` would do.
  case invalidAmount(TimeInterval, nearest: TimeInterval)
  /// The stored value for this id is no timer. It is left as it is; `start` with force replaces it.
  case damagedRecord(id: String?, reason: String)

  /// The error in words, and how to avoid it.
  public var description: String {
    switch self {
    case .invalidDuration(let duration):
      "a countdown's duration is more than 0 seconds and at most \(Self.longest) (a year), not \(duration)"
    case .invalidAmount(let amount, let nearest):
      "\(amount) seconds can't be added here; the nearest amount that can is \(nearest)"
    case .damagedRecord(let id, let reason):
      "what is stored for \(id.map { "the timer \"\($0)\"" } ?? "the default timer") is no timer: \(reason)"
    }
  }

  /// The same, for `localizedDescription`.
  public var errorDescription: String? { description }

  private static let longest = Int(TimerLimits.durationMax.inSeconds)
}
