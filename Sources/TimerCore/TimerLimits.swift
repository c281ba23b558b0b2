/// The bounds of what a timer may be.
public enum TimerLimits {
  /// A year: the longest countdown, and the most that a stopwatch may be set to.
  public static let durationMax: Seconds = 31_536_000
  /// The shortest countdown that may repeat by itself; shorter ones would only keep the server busy.
  public static let repeatDurationMin: Seconds = 0.1
  /// Pauses kept apart; beyond that the oldest two become one.
  public static let pausePeriodsMax = 64
  public static let titleBytesMax = 256
  public static let warningsMax = 16
  /// Laps of one run.
  public static let lapsMax = 1_000
  /// The highest revision that a file may have. Beyond it JSON readers can't tell neighboring numbers apart.
  public static let revisionMax = 1 << 53
  /// The longest time between a press and its request.
  public static let pressAgeMax: Seconds = 2
}
