public import FoundationEssentials

/// What a run counts.
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
}
