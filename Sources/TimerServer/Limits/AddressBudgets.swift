import TimerCore

/// The request budgets of addresses: over HTTP a new connection is too cheap to count by.
typealias AddressBudgets = BudgetTable<String>

/// One budget for each key, over all connections.
struct BudgetTable<Key: Hashable> {
  private let limits: RequestBudget.Limits
  private var budgets: [Key: RequestBudget] = [:]
  private var sweepAt = Self.sweepMin

  /// The number of budgets kept before full ones are removed.
  private static var sweepMin: Int { 1_024 }

  init(_ limits: RequestBudget.Limits) {
    self.limits = limits
  }

  var count: Int { budgets.count }

  /// Counts one request; false when it is one too many.
  mutating func consume(for key: Key, cost: Int = 1, at now: Instant) -> Bool {
    makeRoom(for: key, at: now)
    return budgets[key, default: RequestBudget(limits, at: now)].consume(cost: cost, at: now)
      == .granted
  }

  /// Charges the cost of a request beyond reading it.
  mutating func charge(_ cost: Int, to key: Key, at now: Instant) {
    guard cost > 0 else { return }
    makeRoom(for: key, at: now)
    budgets[key, default: RequestBudget(limits, at: now)].charge(cost, at: now)
  }

  /// Returns whether nothing is granted to this one now.
  func isOverdrawn(_ key: Key, at now: Instant) -> Bool {
    budgets[key]?.isOverdrawn(at: now) ?? false
  }

  private mutating func makeRoom(for key: Key, at now: Instant) {
    if budgets.count >= sweepAt, budgets[key] == nil { sweep(at: now) }
  }

  /// Removes full budgets. This happens at most once each time their number doubles, so that the cost for each address
  /// stays constant.
  private mutating func sweep(at now: Instant) {
    budgets = budgets.filter { !$0.value.isFull(at: now) }
    sweepAt = max(Self.sweepMin, budgets.count * 2)
  }
}
