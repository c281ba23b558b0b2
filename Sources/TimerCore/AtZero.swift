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

  /// True if the time left gets negative; otherwise it stands at zero until the crossing is reported.
  public var countsBelowZero: Bool {
    switch self {
    case .overtime: true
    case .finish, .reset, .repeat: false
    }
  }

  /// True if the countdown starts again by itself, so that another zero is to come.
  public var restarts: Bool {
    switch self {
    case .repeat: true
    case .overtime, .finish, .reset: false
    }
  }
}
