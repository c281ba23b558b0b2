import TimerCore
import TimerProtocol
import TimerStorage

/// Changes by the names that clients gave them, so that one sent again is made once and answered as the
/// first time.
struct RequestLedger {
  private var entries: [RequestKey: Entry] = [:]
  /// In the order in which they came, to be forgotten in that order.
  private var order: [(key: RequestKey, at: Instant)] = []
  private var forgotten = 0
  /// So many of `order` were looked at when answers had to be let go.
  private var lightened = 0
  /// What the kept answers hold, about.
  private var answerBytes = 0

  /// More are not remembered, however short the time.
  private static let entriesMax = 20_000
  /// Answers with a thousand laps each would take a hundred times what the names do.
  private static let answerBytesMax = 16 << 20

  struct Entry {
    /// nil where an earlier server did not keep it.
    let fingerprint: RequestFingerprint?
    let notedAt: Instant
    var state: State

    /// Whether it asked for the same, as far as that is known.
    func isLike(_ named: NamedRequest) -> Bool {
      fingerprint == nil || fingerprint == named.fingerprint
    }
  }

  enum State {
    case pending(UInt64)
    case made(Outcome)
    /// Made to these timers, each with the revision that it got; the answer itself is not there, since it was given
    /// before a restart, or let go.
    case restored([TimerID: Int], removed: Bool)
  }

  /// What became of the change of this name, as long as that is remembered.
  func entry(_ key: RequestKey, at now: Instant) -> Entry? {
    guard let entry = entries[key] else { return nil }
    return entry.notedAt >= now - AnsweredRequest.remembered ? entry : nil
  }

  mutating func note(
    _ key: RequestKey, _ fingerprint: RequestFingerprint?, _ state: State, at now: Instant
  ) {
    forget(at: now)
    remove(key)
    entries[key] = Entry(fingerprint: fingerprint, notedAt: now, state: state)
    order.append((key, now))
  }

  mutating func settle(_ key: RequestKey, _ outcome: Outcome) {
    guard entries[key] != nil else { return }
    entries[key]?.state = .made(outcome)
    answerBytes += outcome.byteCount
    lighten()
  }

  /// A change that was not made in the end may be sent again under its name.
  mutating func drop(_ key: RequestKey) {
    remove(key)
  }

  private mutating func remove(_ key: RequestKey) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    if case .made(let outcome) = entry.state { answerBytes -= outcome.byteCount }
  }

  /// Lets the oldest answers go, while they are too much: that the changes were made stays known.
  private mutating func lighten() {
    while answerBytes > Self.answerBytesMax, lightened < order.count {
      let (key, notedAt) = order[lightened]
      lightened += 1
      guard let entry = entries[key], entry.notedAt == notedAt,
        case .made(let outcome) = entry.state, let revisions = outcome.revisions
      else { continue }
      answerBytes -= outcome.byteCount
      entries[key]?.state = .restored(revisions, removed: false)
    }
  }

  private mutating func forget(at now: Instant) {
    while forgotten < order.count,
      order[forgotten].at < now - AnsweredRequest.remembered || entries.count >= Self.entriesMax
    {
      let (key, notedAt) = order[forgotten]
      if entries[key]?.notedAt == notedAt { remove(key) }
      forgotten += 1
    }
    if forgotten > 1024, forgotten * 2 > order.count {
      order.removeFirst(forgotten)
      lightened = max(0, lightened - forgotten)
      forgotten = 0
    }
  }

  /// Takes up what the disk remembers of a server before this one, as far as it is young enough.
  mutating func restore(_ contents: TimerFolder.Contents, on clock: ClockReading) {
    var found: [Found] = []
    for record in contents.timers {
      let shift = record.clock.shift(to: clock)
      found += record.answered.map { Found($0, of: record.timer.id, shift, removed: false) }
    }
    for removal in contents.server.removals {
      guard let id = TimerID(removal.timer) else { continue }
      let shift = contents.server.clock?.shift(to: clock) ?? .zero
      found.append(Found(removal.request, of: id, shift, removed: true))
    }
    for request in contents.requests {
      guard let id = TimerID(request.timer) else { continue }
      let answered = AnsweredRequest(
        requestId: request.requestId, revision: request.revision,
        at: Instant(Seconds(clamping: request.at)), fingerprint: request.fingerprint)
      found.append(Found(answered, of: id, .zero, removed: request.removed))
    }
    let oldest = clock.server - AnsweredRequest.remembered
    for request in found.sorted(by: { $0.at < $1.at }) where request.at >= oldest {
      restore(request)
    }
  }

  private struct Found {
    let request: AnsweredRequest
    let timer: TimerID
    let at: Instant
    let removed: Bool

    init(_ request: AnsweredRequest, of timer: TimerID, _ shift: Seconds, removed: Bool) {
      self.request = request
      self.timer = timer
      self.removed = removed
      at = Instant(Seconds(clamping: request.at)) + shift
    }
  }

  private mutating func restore(_ found: Found) {
    guard let key = RequestKey(found.request.requestId) else { return }
    let fingerprint = found.request.fingerprint.map(RequestFingerprint.init)
    var revisions: [TimerID: Int] = [:]
    if let entry = entries[key], entry.fingerprint == fingerprint,
      case .restored(let others, _) = entry.state
    {
      revisions = others
    }
    revisions[found.timer] = found.request.revision
    note(key, fingerprint, .restored(revisions, removed: found.removed), at: found.at)
  }
}

extension Outcome {
  private var readings: [TimerReading] {
    switch self {
    case .timer(let reading): [reading]
    case .timers(let readings): readings
    case .done, .synced, .authenticated: []
    }
  }

  /// The revisions of the timers that it tells of; nil when it tells of none.
  fileprivate var revisions: [TimerID: Int]? {
    readings.isEmpty
      ? nil
      : [TimerID: Int](uniqueKeysWithValues: readings.map { ($0.timer.id, $0.timer.revision) })
  }

  /// What it takes in memory, about.
  fileprivate var byteCount: Int {
    readings.reduce(0) { sum, reading in
      sum + 400 + 8 * reading.timer.laps.count + 24 * (reading.timer.run?.pausePeriods.count ?? 0)
    }
  }
}
