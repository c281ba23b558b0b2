/// The status of a run.
public enum TimerStatus: String, Codable, Hashable, Sendable {
  /// Time passes for it.
  case running
  /// It stands, and can go on.
  case paused
  /// It has ended, and shows its last time.
  case finished
}
