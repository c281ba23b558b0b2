import TimerCore

/// How many requests one connection, or one address, may send: so many at once, and so many a second in the long run.
struct RequestBudget {
  private let limits: Limits
  /// Millionths of a request that may come now.
  private var left: Int64
  /// Millionths of a request that were refused; as they pass, so does the memory of them.
  private var refused: Int64 = 0
  private var countedAt: Instant

  struct Limits: Equatable, Sendable {
    var perSecond = 1_000
    /// What may come at once after a pause: a script that sends its whole list.
    var burst: Int { perSecond * 5 }
    /// Who goes on when so many were refused is sent away. At twice the rate allowed nobody is; who sends
    /// as fast as it can gets here in a moment.
    var refusalsMax = 1_000
  }

  enum Verdict {
    case granted, refused
    /// It does not stop.
    case exhausted
  }

  init(_ limits: Limits, at now: Instant) {
    self.limits = limits
    left = Self.millionths(limits.burst)
    countedAt = now
  }

  /// Counts one request.
  mutating func take(at now: Instant) -> Verdict {
    // A microsecond brings a millionth of what a second brings.
    let passed = max(0, (now - countedAt).microseconds)
    countedAt = max(now, countedAt)
    let gained = passed.multipliedReportingOverflow(by: Int64(limits.perSecond))
    let full = Self.millionths(max(limits.burst, limits.refusalsMax))
    let grown = gained.overflow ? full : min(full, gained.partialValue)
    left = min(Self.millionths(limits.burst), left + grown)
    refused = max(0, refused - grown)
    guard left < Self.millionths(1) else {
      left -= Self.millionths(1)
      return .granted
    }
    refused += Self.millionths(1)
    return refused > Self.millionths(limits.refusalsMax) ? .exhausted : .refused
  }

  /// Whether a whole burst may come, and no refusal is remembered.
  func isFull(at now: Instant) -> Bool {
    let passed = max(0, (now - countedAt).microseconds)
    let missing = max(Self.millionths(limits.burst) - left, refused)
    return passed >= missing / Int64(max(1, limits.perSecond))
  }

  private static func millionths(_ requests: Int) -> Int64 {
    Int64(requests) * 1_000_000
  }
}
