/// A timer's name: 1 to 128 bytes of UTF-8 without a control character; `*` is none.
///
/// Two names are the same when their bytes are: é in one scalar and é in two are two timers.
public struct TimerID: Sendable {
  public let name: String

  /// nil when the text breaks one of the rules above.
  public init?(_ name: String) {
    guard (1...Self.bytesMax).contains(name.utf8.count), name != "*" else { return nil }
    guard !name.unicodeScalars.contains(where: \.isControl) else { return nil }
    self.name = name
  }

  /// What a request means that names no timer.
  public static let standard = TimerID(checked: "default")

  /// The most bytes that a name may have.
  public static let bytesMax = 128

  /// The rule in words, for who broke it.
  public static let rule =
    "a name is 1 to \(bytesMax) bytes of UTF-8 without control characters, and not \"*\""

  private init(checked name: String) {
    self.name = name
  }
}

extension Unicode.Scalar {
  /// What the protocol page calls a control character: Unicode Cc, and the two that break lines.
  package var isControl: Bool {
    properties.generalCategory == .control || self == "\u{2028}" || self == "\u{2029}"
  }
}

extension TimerID: Hashable, Comparable {
  // `String` holds both spellings of é for equal, so names are compared as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.name.utf8.elementsEqual(right.name.utf8)
  }

  public static func < (left: Self, right: Self) -> Bool {
    left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in name.utf8 { hasher.combine(byte) }
  }
}
