/// A timer's name: 1 to 128 bytes of UTF-8 without a control character; `*` is none.
///
/// Two names are the same when their bytes are: é in one scalar and é in two are two timers.
public struct TimerID: Sendable {
  public let name: String
  /// Computed once, because names are looked up several times for each message.
  private let hash: Int
  private let isASCII: Bool

  /// nil when the text breaks one of the rules above.
  public init?(_ name: String) {
    guard (1...Self.bytesMax).contains(name.utf8.count), name != "*" else { return nil }
    guard !name.unicodeScalars.contains(where: \.isControl) else { return nil }
    self.init(checked: name)
  }

  /// The timer of a request that names none.
  public static let standard = TimerID(checked: "default")

  /// The most bytes that a name may have.
  public static let bytesMax = 128

  /// The rule, for error messages.
  public static let rule =
    "a name is 1 to \(bytesMax) bytes of UTF-8 without control characters, and not \"*\""

  private init(checked name: String) {
    self.name = name
    hash = name.hashValue
    isASCII = name.utf8.allSatisfy { $0 < 0x80 }
  }
}

extension Unicode.Scalar {
  /// True for control characters as the protocol defines them: Unicode Cc, and the two line breaks. Cc is C0, DEL and
  /// C1, so that Unicode's tables are not needed.
  package var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029: true
    default: false
    }
  }
}

extension TimerID: Hashable, Comparable {
  // `String` holds both spellings of é for equal, so names are compared as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    guard left.hash == right.hash, left.isASCII == right.isASCII else { return false }
    // Only other characters than ASCII's have two spellings.
    return left.isASCII
      ? left.name == right.name : left.name.utf8.elementsEqual(right.name.utf8)
  }

  public static func < (left: Self, right: Self) -> Bool {
    left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(hash)
  }
}
