public import FoundationEssentials

/// A point in time on the wall clock, which people and services set: microseconds since 1970-01-01 00:00 UTC.
///
/// It is no `Instant`, so that what people plan by is never compared with the server clock by mistake. An
/// offset, the wall clock minus the server clock, leads from one to the other.
public struct WallTime: Hashable, Sendable {
  /// The time since 1970.
  public let sinceEpoch: Seconds

  public init(_ sinceEpoch: Seconds) {
    self.sinceEpoch = sinceEpoch
  }

  /// The nearest whole microsecond; a date outside ±285 years of 1970 is clamped to that bound.
  public init(_ date: Date) {
    self.init(Seconds(clamping: date.timeIntervalSince1970))
  }

  /// The wall clock at an instant of the server clock.
  public init(at instant: Instant, offset: Seconds) {
    self.init(instant.sinceEpoch + offset)
  }

  /// The instant of the server clock at which the wall clock shows this.
  public func instant(offset: Seconds) -> Instant {
    Instant(sinceEpoch - offset)
  }
}

extension WallTime: Comparable {
  public static func < (left: Self, right: Self) -> Bool {
    left.sinceEpoch < right.sinceEpoch
  }

  public static func - (left: Self, right: Self) -> Seconds {
    left.sinceEpoch - right.sinceEpoch
  }
}

extension WallTime: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  public init(floatLiteral sinceEpoch: Double) {
    self.init(Seconds(clamping: sinceEpoch))
  }

  public init(integerLiteral sinceEpoch: Int64) {
    self.init(Seconds(integerLiteral: sinceEpoch))
  }
}
