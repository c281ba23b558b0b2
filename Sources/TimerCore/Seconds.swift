/// A length of time in whole microseconds, written and read as seconds.
///
/// Integers keep sums exact: a remaining time plus an elapsed time is the duration, to the last digit.
public struct Seconds: Hashable, Sendable {
  public var microseconds: Int64

  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The nearest whole microsecond; nil for NaN, infinities and what is over 285 years.
  public init?(exactly seconds: Double) {
    guard abs(seconds) < Self.representable else { return nil }
    microseconds = Int64((seconds * 1_000_000).rounded())
  }

  /// The nearest whole microsecond; values beyond the precision of a `Double` are clamped to the bounds.
  public init(clamping seconds: Double) {
    let bound = Self.representable
    let held = seconds.isNaN ? 0 : min(max(seconds, -bound), bound)
    microseconds = Int64((held * 1_000_000).rounded())
  }

  /// The same length as a `Double`, in seconds.
  public var inSeconds: Double {
    Double(microseconds) / 1_000_000
  }

  /// For an error's words: in decimal, never with an exponent, as in `90.5`, `3600` and `-0.000001`.
  public var text: String {
    let magnitude = microseconds.magnitude
    let whole = "\(microseconds < 0 ? "-" : "")\(magnitude / 1_000_000)"
    // A one in front keeps the zeros behind the point.
    var digits = String(magnitude % 1_000_000 + 1_000_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return digits.isEmpty ? whole : "\(whole).\(digits)"
  }

  /// 2⁵³ microseconds: up to here a `Double` of seconds keeps each microsecond apart.
  private static let representable = 9_007_199_254.0
}

extension Seconds: Comparable, AdditiveArithmetic {
  public static let zero = Seconds(microseconds: 0)

  public static func < (left: Self, right: Self) -> Bool {
    left.microseconds < right.microseconds
  }

  public static func + (left: Self, right: Self) -> Self {
    Self(microseconds: left.microseconds + right.microseconds)
  }

  public static func - (left: Self, right: Self) -> Self {
    Self(microseconds: left.microseconds - right.microseconds)
  }

  public static prefix func - (length: Self) -> Self {
    Self(microseconds: -length.microseconds)
  }

  public static func * (length: Self, times: Int64) -> Self {
    Self(microseconds: length.microseconds * times)
  }
}

extension Seconds: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  public init(floatLiteral seconds: Double) {
    self.init(clamping: seconds)
  }

  public init(integerLiteral seconds: Int64) {
    self.init(microseconds: seconds * 1_000_000)
  }
}
