import TimerCore

/// How many requests each address may send by HTTP, where a connection is too easily made anew.
struct AddressBudgets {
  private let limits: RequestBudget.Limits
  private var budgets: [String: RequestBudget] = [:]
  private var sweepAt = Self.sweepMin

  /// How many addresses are remembered before those that have been calm are forgotten.
  private static let sweepMin = 1_024

  init(_ limits: RequestBudget.Limits) {
    self.limits = limits
  }

  var count: Int { budgets.count }

  /// Counts one request; false when it is one too many.
  mutating func take(for network: String, at now: Instant) -> Bool {
    if budgets[network] == nil, budgets.count >= sweepAt { sweep(at: now) }
    return budgets[network, default: RequestBudget(limits, at: now)].take(at: now) == .granted
  }

  /// Who could send a whole burst again needs no remembering. Walked once per doubling at most, so that many
  /// addresses cost no more each than few.
  private mutating func sweep(at now: Instant) {
    budgets = budgets.filter { !$0.value.isFull(at: now) }
    sweepAt = max(Self.sweepMin, budgets.count * 2)
  }
}
