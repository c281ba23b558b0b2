import TimerCore

/// Costly work that is limited to half of the time and shared fairly: one job of each payer after the other.
struct FairWorkQueue<Job> {
  private var jobs: [Payer: Queue<Job>] = [:]
  /// The payers with waiting jobs, in the order in which they are served.
  private var payers = Queue<Payer>()
  /// The time that may be spent on work now; below zero after a long job.
  private var left = Self.burst
  private var countedAt: Instant
  /// The work done during the current event, whose real duration is known once the event is handled.
  private var work: (beganAt: Instant, counted: Seconds)?

  /// The longest row of costly work without a pause for other requests.
  private static var burst: Seconds { 0.01 }
  /// The most that is owed for one piece of work that took longer than it looked.
  private static var debtMax: Seconds { 0.25 }

  init(at now: Instant) {
    countedAt = now
  }

  var isEmpty: Bool { payers.isEmpty }

  /// When the next piece may begin; nil when none waits.
  var next: Instant? {
    guard !payers.isEmpty else { return nil }
    // Work gets half of the time, so a debt takes twice as long to pay off.
    return left > .zero ? countedAt : countedAt + (-left) * 2 + Seconds(microseconds: 2)
  }

  mutating func append(_ job: Job, of payer: Payer) {
    if jobs[payer] == nil { payers.append(payer) }
    jobs[payer, default: Queue()].append(job)
  }

  /// Returns whether costly work may run now without overtaking any that waits.
  func isFree(at now: Instant) -> Bool { payers.isEmpty && left(at: now) > .zero }

  /// Takes the next piece, if it may begin.
  mutating func popNext(at now: Instant) -> Job? {
    refill(to: now)
    return left > .zero ? popFirst() : nil
  }

  /// Takes all that waits, in its order.
  mutating func removeAll() -> [Job] {
    var all: [Job] = []
    while let job = popFirst() { all.append(job) }
    return all
  }

  private mutating func popFirst() -> Job? {
    guard let payer = payers.popFirst(), var own = jobs.removeValue(forKey: payer) else {
      return nil
    }
    let job = own.popFirst()
    if !own.isEmpty {
      jobs[payer] = own
      payers.append(payer)
    }
    return job
  }

  /// Counts work that is done while an event is handled that came at `now`.
  mutating func spend(_ length: Seconds, at now: Instant) {
    refill(to: now)
    left = max(left - length, -Self.debtMax)
    let counted = work.flatMap { $0.beganAt == now ? $0.counted : nil } ?? .zero
    work = (now, counted + length)
  }

  /// True if work was counted by its expected duration, and the real one is not known yet.
  var isMeasuring: Bool { work != nil }

  /// The event has been handled in which work was counted: nothing is gained by the time that it took, and what it took
  /// longer than expected is owed too.
  mutating func endWork(at now: Instant) {
    guard let work else { return }
    self.work = nil
    let unforeseen = max(.zero, now - work.beganAt - work.counted)
    left = max(left - unforeseen, -Self.debtMax)
    countedAt = max(countedAt, now)
  }

  private mutating func refill(to now: Instant) {
    left = left(at: now)
    countedAt = max(countedAt, now)
  }

  private func left(at now: Instant) -> Seconds {
    guard now > countedAt else { return left }
    return min(Self.burst, left + Seconds(microseconds: (now - countedAt).microseconds / 2))
  }
}
