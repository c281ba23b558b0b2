import TimerCore

/// The timers that a token applies to.
enum TimerScope: Hashable, Sendable {
  case all
  case matching(Set<TimerPattern>)

  func contains(_ id: TimerID) -> Bool {
    switch self {
    case .all: true
    case .matching(let patterns): patterns.contains { $0.matches(id) }
    }
  }

  /// The number of patterns in the scope.
  var patternCount: Int {
    switch self {
    case .all: 0
    case .matching(let patterns): patterns.count
    }
  }

  func contains(_ selection: [TimerID]) -> Bool {
    selection.allSatisfy(contains)
  }
}

/// A timer's name, or the beginning of one with `*` for the rest. Compared byte for byte, as names are.
struct TimerPattern: Hashable, Sendable {
  private let bytes: [UInt8]
  private let isPrefix: Bool

  /// nil when it can match no name: a name as long as names may be, without control characters.
  init?(_ text: String) {
    isPrefix = text.utf8.last == UInt8(ascii: "*")
    bytes = Array(isPrefix ? text.utf8.dropLast() : text.utf8[...])
    // A prefix is valid if it is a valid name with one letter added.
    let example = String(decoding: bytes, as: UTF8.self)
    guard TimerID(isPrefix && bytes.count < TimerID.bytesMax ? example + "a" : example) != nil
    else { return nil }
  }

  func matches(_ id: TimerID) -> Bool {
    isPrefix ? id.name.utf8.starts(with: bytes) : id.name.utf8.elementsEqual(bytes)
  }

  /// Returns whether a name is sorted before all names that match.
  func isSorted(behind id: TimerID) -> Bool {
    id.name.utf8.lexicographicallyPrecedes(bytes)
  }

  static let rule =
    "a timer's name, or the beginning of names and a \"*\", 1 to \(TimerID.bytesMax) bytes without "
    + "control characters"
}
