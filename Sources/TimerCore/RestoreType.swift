public import FoundationEssentials

/// The type of a run.
public enum RestoreType: Codable, Hashable, Sendable {
  /// Up from zero.
  case stopwatch
  /// Down from `duration` seconds, to zero and on below it.
  case timer(duration: TimeInterval)
}

extension RestoreType {
  /// A countdown from a length.
  public static func countdown(_ duration: Seconds) -> RestoreType {
    .timer(duration: duration.inSeconds)
  }

  /// A countdown's whole length; nil for a stopwatch.
  public var duration: Seconds? {
    switch self {
    case .stopwatch: nil
    case .timer(let duration): Seconds(clamping: duration)
    }
  }

  /// The same type; refused when its duration is none that a countdown may have.
  public func checked() throws(TimerRefusal) -> RestoreType {
    guard case .timer(let duration) = self else { return self }
    // NaN is not above zero either.
    guard duration > 0, Seconds(clamping: duration) > .zero else {
      throw .outOfRange(field: "duration", limit: Seconds(microseconds: 1))
    }
    guard Seconds(clamping: duration) <= TimerLimits.durationMax else {
      throw .outOfRange(field: "duration", limit: TimerLimits.durationMax)
    }
    return self
  }
}
