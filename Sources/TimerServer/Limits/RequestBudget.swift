import TimerCore

/// A token bucket that limits a connection, an address or a principal: a burst, and a rate in the long run. Its unit is
/// the work of one cheap request.
struct RequestBudget {
  private let limits: Limits
  /// Millionths of a unit that may be asked for now; below zero after something that was larger than what was left.
  private var left: Int64
  /// Millionths of a request that were refused; as they pass, so does the memory of them.
  private var refused: Int64 = 0
  private var countedAt: Instant

  struct Limits: Equatable, Sendable {
    var perSecond = 1_000
    /// The number of units that may be spent at once after a pause, as by a script that sends its whole list.
    var burst: Int { perSecond * 5 }
    /// The number of refusals after which a connection is closed. At twice the allowed rate it is never reached; a
    /// client that sends as fast as it can reaches it in a moment.
    var refusalsMax = 1_000

    /// The same limits multiplied by a factor.
    func times(_ factor: Int) -> Limits {
      Limits(perSecond: perSecond * factor, refusalsMax: refusalsMax * factor)
    }
  }

  enum Verdict {
    case granted, refused
    /// The client keeps sending although it is refused: its connection is to be closed.
    case exhausted
  }

  init(_ limits: Limits, at now: Instant) {
    self.limits = limits
    left = Self.millionths(limits.burst)
    countedAt = now
  }

  /// Counts one request of so many units. One that is larger than the whole burst is granted when all of that is there,
  /// and leaves a debt.
  mutating func consume(cost: Int = 1, at now: Instant) -> Verdict {
    refill(to: now)
    guard left < Self.millionths(min(cost, limits.burst)) else {
      left = max(left - Self.millionths(cost), -Self.millionths(limits.burst))
      return .granted
    }
    // A request that is refused has been read, and no more.
    return refuse(cost: min(cost, Self.refusalCostMax))
  }

  /// Charges what a granted request costs beyond being read. The debt is limited to one burst, so that refusals last a
  /// few seconds at most.
  mutating func charge(_ cost: Int, at now: Instant) {
    guard cost > 0 else { return }
    refill(to: now)
    left = max(left - Self.millionths(cost), -Self.millionths(limits.burst))
  }

  /// Remembers that a request was refused, by this budget or by one that it shares with others.
  mutating func refuse(cost: Int = 1) -> Verdict {
    refused += Self.millionths(cost)
    return refused > Self.millionths(limits.refusalsMax) ? .exhausted : .refused
  }

  /// Returns whether nothing can be granted now.
  func isOverdrawn(at now: Instant) -> Bool {
    var later = self
    later.refill(to: now)
    return later.left < Self.millionths(1)
  }

  private mutating func refill(to now: Instant) {
    // A microsecond brings a millionth of what a second brings.
    let passed = max(0, (now - countedAt).microseconds)
    guard passed > 0 else { return }
    countedAt = now
    let gained = passed.multipliedReportingOverflow(by: Int64(limits.perSecond))
    let full = Self.millionths(max(2 * limits.burst, limits.refusalsMax))
    let grown = gained.overflow ? full : min(full, gained.partialValue)
    left = min(Self.millionths(limits.burst), left + grown)
    refused = max(0, refused - grown)
  }

  /// Returns whether a whole burst may come, and no refusal is remembered.
  func isFull(at now: Instant) -> Bool {
    let passed = max(0, (now - countedAt).microseconds)
    let missing = max(Self.millionths(limits.burst) - left, refused)
    return passed >= missing / Int64(max(1, limits.perSecond))
  }

  private static let refusalCostMax = 20

  private static func millionths(_ units: Int) -> Int64 {
    Int64(units) * 1_000_000
  }
}
