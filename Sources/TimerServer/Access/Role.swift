/// A visitor's permissions; each role includes those before it.
public enum Role: String, CaseIterable, Comparable, Sendable {
  /// May only exchange clocks, and authenticate with a token.
  case none
  /// Reads: subscribe, get, list, sync.
  case view
  /// May change timers too.
  case control

  public static func < (left: Self, right: Self) -> Bool {
    left.rank < right.rank
  }

  private var rank: Int {
    switch self {
    case .none: 0
    case .view: 1
    case .control: 2
    }
  }
}
