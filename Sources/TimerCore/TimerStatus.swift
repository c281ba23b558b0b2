/// What a run is doing.
public enum TimerStatus: String, Codable, Hashable, Sendable {
  case running, paused, finished
}
