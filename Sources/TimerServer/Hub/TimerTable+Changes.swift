import TimerCore
import TimerProtocol
import TimerStorage

/// How changes are decided and become the latest state.
extension TimerTable {
  /// The result of a change by the timer's rules.
  func proposal(
    _ change: TimerChange, for id: TimerID, at now: Instant
  ) throws(TimerRefusal) -> Proposal {
    Proposal(
      id: id, after: try SharedTimer.applying(change, to: latest(id), id: id, now: now),
      cause: change.command.cause)
  }

  /// The crossings of zero that are due for a timer at `now`, as one step; nil when none is.
  func crossing(
    of id: TimerID, at now: Instant, late: Bool = false, isDelivered: Bool
  ) -> Proposal? {
    guard var timer = latest(id) else { return nil }
    var crossings: [ZeroCrossing] = []
    while let crossing = timer.crossingZero(at: now) {
      crossings.append(crossing)
      timer = crossing.timer
    }
    guard let last = crossings.last else { return nil }
    return Proposal(
      id: id, after: last.timer, cause: .ended(at: last.at, late: late), crossings: crossings,
      isDelivered: isDelivered)
  }

  /// Returns whether a crossing of this timer is on its way to the disk.
  func isCrossingUnderWay(_ id: TimerID) -> Bool {
    slots[id]?.crossingTicket != nil
  }

  /// Makes proposals the latest state, together; they are durable when the change has been reported as made.
  ///
  /// A named change of no timer is remembered all the same.
  mutating func apply(
    _ proposals: [Proposal], named: IdempotentRequest? = nil, at now: Instant
  ) -> StoredChange {
    var change = PendingChange(ticket: pending.nextTicket())
    let lastRevision = revisions.last
    var bases: Set<UInt64> = []
    var expected: [TimerID: ChangeStamp] = [:]
    for proposal in proposals {
      let slot = slots[proposal.id] ?? Slot()
      if let ticket = slot.ticket { bases.insert(ticket) }
      expected[proposal.id] = latestStamp(of: proposal.id, slot)
      apply(proposal, named, to: slot, &change, at: now)
    }
    change.isInternal = proposals.contains { !$0.crossings.isEmpty }
    if revisions.last > lastRevision { change.revisions = lastRevision + 1...revisions.last }
    let request = named?.record(revision: revisions.last, at: now)
    change.server = serverRecord(for: change, request, at: now)
    pending.submit(change)
    var stored = StoredChange(
      stamp: stamp(change.ticket), timers: records(of: change, at: now), server: change.server,
      bases: bases, reported: pending.lastReported, clock: clock.reading(at: now))
    stored.expected = expected
    stored.revisions = change.revisions
    stored.causes = change.causes
    stored.request = request
    return stored
  }

  private mutating func apply(
    _ proposal: Proposal, _ named: IdempotentRequest?, to slot: Slot, _ change: inout PendingChange,
    at now: Instant
  ) {
    var slot = slot
    slot.ticket = change.ticket
    let proposal = numbered(proposal, &slot)
    slot.latest = proposal.after
    if let named {
      slot.latestMetadata.answered = IdempotencyRecord.keeping(
        slot.latestMetadata.answered, and: named.record(revision: revisions.last, at: now), at: now)
    }
    store(slot, of: proposal.id)
    change.proposals.append(proposal)
    change.metadata.append(slot.latestMetadata)
  }

  /// The server's record, if it is due or has to keep a request that no timer's record keeps.
  private func serverRecord(
    for change: PendingChange, _ request: IdempotencyRecord?, at now: Instant
  ) -> ServerRecord? {
    guard let request else { return serverRecord(at: now) }
    let removals = zip(change.proposals, change.metadata).compactMap { proposal, metadata in
      proposal.after == nil
        ? ServerRecord.Removal(timer: proposal.id, request: metadata.answered.last ?? request) : nil
    }
    return serverRecord(
      at: now, removals: removals, unchanged: change.proposals.isEmpty ? request : nil)
  }

  private func records(of change: PendingChange, at now: Instant) -> [TimerID: TimerRecord?] {
    let clock = clock.reading(at: now)
    var records: [TimerID: TimerRecord?] = [:]
    for (proposal, metadata) in zip(change.proposals, change.metadata) {
      let record = proposal.after.map { metadata.record(of: $0, clock) }
      records.updateValue(record, forKey: proposal.id)
    }
    return records
  }

  /// The proposal with the revisions that its steps get; its crossings are kept with the timer.
  private mutating func numbered(_ proposal: Proposal, _ slot: inout Slot) -> Proposal {
    var proposal = proposal
    guard !proposal.crossings.isEmpty else {
      let revision = revisions.next()
      proposal.after = proposal.after?.numbered(revision)
      if proposal.after == nil { slot.latestMetadata = Metadata() }
      return proposal
    }
    proposal.crossings = proposal.crossings.map { crossing in
      let revision = revisions.next()
      slot.latestMetadata.ends.append(
        TimerEnd(at: crossing.at, revision: revision, isDelivered: proposal.isDelivered))
      return crossing.numbered(revision)
    }
    slot.latestMetadata.ends = slot.latestMetadata.ends.suffix(TimerEnd.kept)
    slot.crossingTicket = slot.ticket
    proposal.after = proposal.crossings.last?.timer
    return proposal
  }

  /// Marks a timer's crossings as received by a client: later servers need not send them to clients without a history.
  mutating func markDelivered(_ id: TimerID, at now: Instant) -> StoredChange? {
    mark(id, asDelivered: true, at: now) { !$0.isDelivered }
  }

  /// Marks crossings that are still on their way to the disk when the connections close: no client receives them, so
  /// later servers send them.
  mutating func markUndelivered(at now: Instant) -> [StoredChange] {
    let underWay = slots.filter { $0.value.crossingTicket != nil }.keys.sorted()
    return underWay.compactMap { id in
      let published = publishedRevision
      return mark(id, asDelivered: false, at: now) { $0.isDelivered && $0.revision > published }
    }
  }

  private mutating func mark(
    _ id: TimerID, asDelivered isDelivered: Bool, at now: Instant, where isMeant: (TimerEnd) -> Bool
  ) -> StoredChange? {
    guard var slot = slots[id], slot.latest != nil,
      slot.latestMetadata.ends.contains(where: isMeant)
    else { return nil }
    let change = PendingChange(ticket: pending.nextTicket(), isInternal: true)
    let bases = Set([slot.ticket].compactMap(\.self))
    slot.latestMetadata.mark(asDelivered: isDelivered, where: isMeant)
    slot.durableMetadata.mark(asDelivered: isDelivered, where: isMeant)
    store(slot, of: id)
    // Changes under way will carry the mark, too.
    if slot.ticket != nil {
      pending.updateMetadata(of: id) { $0.mark(asDelivered: isDelivered, where: isMeant) }
    }
    pending.submit(change)
    var stored = StoredChange(
      stamp: stamp(change.ticket), timers: [id: record(of: slot, at: now)], bases: bases,
      reported: pending.lastReported, clock: clock.reading(at: now))
    stored.expected[id] = latestStamp(of: id, slot)
    return stored
  }

  private func record(of slot: Slot, at now: Instant) -> TimerRecord? {
    slot.latest.map { slot.latestMetadata.record(of: $0, clock.reading(at: now)) }
  }

  /// The last write of a server that stops: no revision that could be given is wasted then.
  mutating func makeShutdownWrite(at now: Instant) -> StoredChange {
    let change = PendingChange(ticket: pending.nextTicket())
    pending.submit(change)
    var server = revisions.shutdownRecord(clock.reading(at: now))
    server.earlierClocks = earlierClocks.isEmpty ? nil : earlierClocks
    return StoredChange(
      stamp: stamp(change.ticket), timers: [:], server: server, reported: pending.lastReported,
      clock: server.clock)
  }
}

extension TimerTable.Metadata {
  init(_ record: TimerRecord) {
    self.init(answered: record.answered, ends: record.ends)
  }

  func record(of timer: SharedTimer, _ clock: ClockReading) -> TimerRecord {
    TimerRecord(timer: timer, clock: clock, answered: answered, ends: ends)
  }

  fileprivate mutating func mark(
    asDelivered isDelivered: Bool, where isMeant: (TimerEnd) -> Bool
  ) {
    for index in ends.indices where isMeant(ends[index]) { ends[index].isDelivered = isDelivered }
  }
}
