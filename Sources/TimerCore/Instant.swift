public import FoundationEssentials

/// A point in time on the server clock: microseconds since 1970-01-01 00:00 UTC.
public struct Instant: Hashable, Sendable {
  public var microseconds: Int64

  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The nearest whole microsecond; a date outside ±285 years of 1970 is clamped to that bound.
  public init(_ date: Date) {
    self.init(Seconds(clamping: date.timeIntervalSince1970))
  }

  /// An instant that lies this long after 1970.
  public init(_ sinceEpoch: Seconds) {
    microseconds = sinceEpoch.microseconds
  }

  /// The time since 1970.
  public var sinceEpoch: Seconds {
    Seconds(microseconds: microseconds)
  }

  /// The same instant as a `Date`, which keeps each microsecond apart.
  public var date: Date {
    Date(timeIntervalSince1970: sinceEpoch.inSeconds)
  }
}

extension Instant: Comparable {
  public static func < (left: Self, right: Self) -> Bool {
    left.microseconds < right.microseconds
  }

  public static func - (left: Self, right: Self) -> Seconds {
    Seconds(microseconds: left.microseconds - right.microseconds)
  }

  public static func + (left: Self, right: Seconds) -> Self {
    Self(microseconds: left.microseconds + right.microseconds)
  }

  public static func - (left: Self, right: Seconds) -> Self {
    Self(microseconds: left.microseconds - right.microseconds)
  }
}

extension Instant: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  public init(floatLiteral sinceEpoch: Double) {
    self.init(Seconds(clamping: sinceEpoch))
  }

  public init(integerLiteral sinceEpoch: Int64) {
    self.init(Seconds(microseconds: sinceEpoch * 1_000_000))
  }
}
