import TimerCore

/// Costly work that waits for its turn, so that it never takes more than half of the time, and others are served in
/// between: one piece of each payer after the other.
struct TurnQueue<Job> {
  private var jobs: [Payer: [Job]] = [:]
  /// Whose turn it is, in this order.
  private var payers: [Payer] = []
  /// How long may be worked now; below zero after a long piece.
  private var left = Self.inARow
  private var countedAt: Instant

  /// So long a row of costly work keeps everybody else waiting.
  private static var inARow: Seconds { 0.01 }
  /// The most that is owed for one piece of work that took longer than it looked.
  private static var debtMax: Seconds { 0.25 }

  init(at now: Instant) {
    countedAt = now
  }

  var isEmpty: Bool { payers.isEmpty }

  /// When the next piece may begin; nil when none waits.
  var next: Instant? {
    guard !payers.isEmpty else { return nil }
    // Half of the time is ours: what is owed takes twice as long.
    return left > .zero ? countedAt : countedAt + (-left) * 2 + Seconds(microseconds: 2)
  }

  mutating func append(_ job: Job, of payer: Payer) {
    if jobs[payer] == nil { payers.append(payer) }
    jobs[payer, default: []].append(job)
  }

  /// Whether something costly may be done right now, past nobody who waits.
  mutating func isFree(at now: Instant) -> Bool {
    grow(to: now)
    return payers.isEmpty && left > .zero
  }

  /// Takes the next piece, if it may begin.
  mutating func takeNext(at now: Instant) -> Job? {
    grow(to: now)
    guard left > .zero, let payer = payers.first, var own = jobs.removeValue(forKey: payer) else {
      return nil
    }
    payers.removeFirst()
    let job = own.removeFirst()
    if !own.isEmpty {
      jobs[payer] = own
      payers.append(payer)
    }
    return job
  }

  /// Counts work that was done.
  mutating func spend(_ length: Seconds, at now: Instant) {
    grow(to: now)
    left = max(left - length, -Self.debtMax)
  }

  private mutating func grow(to now: Instant) {
    guard now > countedAt else { return }
    let gained = Seconds(microseconds: (now - countedAt).microseconds / 2)
    countedAt = now
    left = min(Self.inARow, left + gained)
  }
}
