import TimerCore
import TimerProtocol
import TimerStorage

/// Changes by the names that clients gave them, so that one sent again is made once and answered as the
/// first time.
struct IdempotencyCache {
  private var entries: [ScopedIdempotencyKey: Entry] = [:]
  /// In the order in which they came, to be forgotten in that order.
  private var order: [(key: ScopedIdempotencyKey, at: Instant)] = []
  private var removedCount = 0
  /// The number of entries at the front of `order` whose responses were evicted already, or were not there.
  private var evictedCount = 0
  /// The approximate memory of the kept responses.
  private var responseBytes = 0

  /// The number of entries kept for the whole time. Beyond it the owners with the most, a token or one network's
  /// visitors, lose their oldest entries.
  private static let entriesKept = 20_000
  /// Beyond this count entries are removed, down to `entriesKept`: many at once, since each removal is a pass over all.
  private static let entriesMax = 22_000
  /// Responses with a thousand laps each would take a hundred times as much memory as the keys.
  private static let responseBytesMax = 16 << 20

  struct Entry {
    /// nil where an earlier server did not keep it.
    let fingerprint: RequestFingerprint?
    /// Where a visitor without a token came from.
    let network: String?
    let recordedAt: Instant
    var state: State

    /// Returns whether the request with this key asked for the same, as far as that is known.
    func matches(_ named: IdempotentRequest) -> Bool {
      fingerprint == nil || fingerprint == named.fingerprint
    }
  }

  enum State {
    case pending(UInt64)
    case made(Outcome)
    /// Made to these timers, each with the revision that it got; the response itself is not there, since it was sent
    /// before a restart, or was evicted.
    case restored([TimerID: Int], removed: Bool)
  }

  /// The change with this key, as long as it is remembered.
  func entry(_ key: ScopedIdempotencyKey, at now: Instant) -> Entry? {
    guard let entry = entries[key] ?? entries[ScopedIdempotencyKey(key.key, of: nil)] else {
      return nil
    }
    return entry.recordedAt >= now - IdempotencyRecord.retention ? entry : nil
  }

  mutating func record(_ named: IdempotentRequest, _ state: State, at now: Instant) {
    record(named.key, named.fingerprint, named.network, state, at: now)
  }

  private mutating func record(
    _ key: ScopedIdempotencyKey, _ fingerprint: RequestFingerprint?, _ network: String?,
    _ state: State,
    at now: Instant
  ) {
    removeExpired(at: now)
    remove(key)
    entries[key] = Entry(
      fingerprint: fingerprint, network: network, recordedAt: now, state: state)
    order.append((key, now))
    if entries.count > Self.entriesMax { makeRoom() }
  }

  mutating func complete(_ key: ScopedIdempotencyKey, _ outcome: Outcome) {
    guard entries[key] != nil else { return }
    entries[key]?.state = .made(outcome)
    responseBytes += outcome.byteCount
    evictResponses()
  }

  /// A change that was not made in the end may be sent again under its name.
  mutating func drop(_ key: ScopedIdempotencyKey) {
    remove(key)
  }

  /// The same as long as it was not learned meanwhile that another server has made it.
  mutating func drop(_ key: ScopedIdempotencyKey, pendingAs ticket: UInt64) {
    if isPending(key, as: ticket) { remove(key) }
  }

  private func isPending(_ key: ScopedIdempotencyKey, as ticket: UInt64?) -> Bool {
    guard case .pending(let pending)? = entries[key]?.state else { return false }
    return ticket == nil || pending == ticket
  }

  // MARK: Changes by other servers

  /// The change was made before; if nothing more is known of that, its result is what its timers are now.
  mutating func markMade(_ key: ScopedIdempotencyKey, to ids: [TimerID]) {
    guard isPending(key, as: nil) else { return }
    let revisions = [TimerID: Int](ids.map { ($0, 0) }) { first, _ in first }
    entries[key]?.state = .restored(revisions, removed: false)
  }

  /// Remembers the request of another server's change.
  mutating func record(_ change: RemoteChange, at now: Instant) {
    guard let request = change.request, let name = IdempotencyKey(request.requestId) else {
      return
    }
    record(
      ScopedIdempotencyKey(name, of: request.principal.map(Principal.init(text:))),
      request.fingerprint.map(RequestFingerprint.init), request.network,
      .restored(
        change.timers.compactMapValues { $0?.timer.revision },
        removed: change.timers.values.contains { $0 == nil }), at: now)
  }

  private mutating func remove(_ key: ScopedIdempotencyKey) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    if case .made(let outcome) = entry.state { responseBytes -= outcome.byteCount }
  }

  /// Evicts the oldest responses while they take too much memory; the fact that the changes were made is kept.
  private mutating func evictResponses() {
    while responseBytes > Self.responseBytesMax, evictedCount < order.count {
      let (key, recordedAt) = order[evictedCount]
      evictedCount += 1
      guard let entry = entries[key], entry.recordedAt == recordedAt,
        case .made(let outcome) = entry.state, let revisions = outcome.revisions
      else { continue }
      responseBytes -= outcome.byteCount
      entries[key]?.state = .restored(revisions, removed: false)
    }
  }

  private mutating func removeExpired(at now: Instant) {
    while removedCount < order.count, order[removedCount].at < now - IdempotencyRecord.retention {
      let (key, recordedAt) = order[removedCount]
      if entries[key]?.recordedAt == recordedAt { remove(key) }
      removedCount += 1
    }
    if removedCount > 1024, removedCount * 2 > order.count {
      order.removeFirst(removedCount)
      evictedCount = max(0, evictedCount - removedCount)
      removedCount = 0
    }
  }

  private mutating func makeRoom() {
    let present = order[removedCount...].filter { entries[$0.key]?.recordedAt == $0.at }
    let kept = FairShare.newest(of: present, atMost: Self.entriesKept) { [entries] in
      Owner(principal: $0.key.principal, network: entries[$0.key]?.network)
    }
    let keys = Set(kept.map(\.key))
    for (key, _) in present where !keys.contains(key) { remove(key) }
    order = kept
    (removedCount, evictedCount) = (0, 0)
  }

  /// The owner of a share of the cache.
  private struct Owner: Hashable {
    let principal: Principal?
    let network: String?
  }

  /// Restores the records of earlier servers that are young enough.
  mutating func restore(_ contents: StoreContents, on clock: ClockReading) {
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
    let shift = contents.server.clock?.shift(to: clock) ?? .zero
    found += (contents.server.unchanged ?? []).map { Found($0, of: nil, shift, removed: false) }
    for request in contents.requests {
      let answered = IdempotencyRecord(
        requestId: request.requestId, revision: request.revision,
        at: Instant(Seconds(clamping: request.at)), fingerprint: request.fingerprint,
        principal: request.principal, network: request.network)
      found.append(
        Found(answered, of: TimerID(request.timer), .zero, removed: request.removed))
    }
    let oldest = clock.server - IdempotencyRecord.retention
    for request in found.sorted(by: { $0.at < $1.at }) where request.at >= oldest {
      restore(request)
    }
  }

  private struct Found {
    let request: IdempotencyRecord
    /// nil where no timer was changed.
    let timer: TimerID?
    let at: Instant
    let removed: Bool

    init(_ request: IdempotencyRecord, of timer: TimerID?, _ shift: Seconds, removed: Bool) {
      self.request = request
      self.timer = timer
      self.removed = removed
      at = Instant(Seconds(clamping: request.at)) + shift
    }
  }

  private mutating func restore(_ found: Found) {
    guard let name = IdempotencyKey(found.request.requestId) else { return }
    let key = ScopedIdempotencyKey(name, of: found.request.principal.map(Principal.init(text:)))
    let fingerprint = found.request.fingerprint.map(RequestFingerprint.init)
    var revisions: [TimerID: Int] = [:]
    if let entry = entries[key], entry.fingerprint == fingerprint,
      case .restored(let others, _) = entry.state
    {
      revisions = others
    }
    if let timer = found.timer { revisions[timer] = found.request.revision }
    record(
      key, fingerprint, found.request.network, .restored(revisions, removed: found.removed),
      at: found.at)
  }
}

extension Outcome {
  private var readings: [TimerReading] {
    switch self {
    case .timer(let reading): [reading]
    case .timers(let readings), .page(let readings, _): readings
    case .done, .synced, .authenticated, .subscribed: []
    }
  }

  /// The revisions of its timers; nil if it has none.
  fileprivate var revisions: [TimerID: Int]? {
    readings.isEmpty
      ? nil
      : [TimerID: Int](uniqueKeysWithValues: readings.map { ($0.timer.id, $0.timer.revision) })
  }

  /// Its approximate memory.
  fileprivate var byteCount: Int {
    readings.reduce(0) { sum, reading in
      sum + 400 + 8 * reading.timer.laps.count + 24 * (reading.timer.run?.pausePeriods.count ?? 0)
    }
  }
}
