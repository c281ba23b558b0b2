/// A countdown's behavior at zero.
public enum AtZero: String, CaseIterable, Codable, Hashable, Sendable {
  /// Counts on below zero.
  case overtime
  /// Ends its run.
  case finish
  /// Goes back to its starting duration, not running.
  case reset
  /// Starts again at once; the next run begins at the exact zero of the last.
  case `repeat`
}
