import TimerCore

/// How much each address may ask for by HTTP, where a connection is too easily made anew.
typealias AddressBudgets = BudgetTable<String>

/// One budget for each of those who ask, whatever connections they ask by.
struct BudgetTable<Key: Hashable> {
  private let limits: RequestBudget.Limits
  private var budgets: [Key: RequestBudget] = [:]
  private var sweepAt = Self.sweepMin

  /// How many are remembered before those that have been calm are forgotten.
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

  /// Counts what a request came to beside.
  mutating func charge(_ cost: Int, to key: Key, at now: Instant) {
    guard cost > 0 else { return }
    makeRoom(for: key, at: now)
    budgets[key, default: RequestBudget(limits, at: now)].charge(cost, at: now)
  }

  /// Whether nothing is granted to this one now.
  func isOverdrawn(_ key: Key, at now: Instant) -> Bool {
    budgets[key]?.isOverdrawn(at: now) ?? false
  }

  private mutating func makeRoom(for key: Key, at now: Instant) {
    if budgets.count >= sweepAt, budgets[key] == nil { sweep(at: now) }
  }

  /// Who could send a whole burst again needs no remembering. Walked once per doubling at most, so that many
  /// addresses cost no more each than few.
  private mutating func sweep(at now: Instant) {
    budgets = budgets.filter { !$0.value.isFull(at: now) }
    sweepAt = max(Self.sweepMin, budgets.count * 2)
  }
}
