import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The authoritative timers: the durable states, and those that are decided but not on the disk yet.
///
/// Decisions are based on the latest decided state. Clients only see durable states.
struct TimerTable {
  private var slots: [TimerID: Slot] = [:]
  /// The names of durable timers, sorted.
  private var durableIDs = SortedNames()
  private var pending: [UInt64: PendingChange] = [:]
  private var revisions: RevisionCounter
  private var lastTicket: UInt64 = 0
  /// The highest ticket that was reported: the disk may forget failures before it.
  private var lastReported: UInt64 = 0
  private var recentEnds = RecentEnds([])
  var clock: ClockAnchor
  /// The last readings of earlier starts of the machine that files still refer to.
  private var earlierClocks: [ClockReading] = []
  /// The wall clock's offset that is on the disk.
  private var storedWallOffset: Seconds?

  private struct Slot {
    var durable: SharedTimer?
    var latest: SharedTimer?
    /// The write that `latest` waits for.
    var ticket: UInt64?
    /// The metadata beside the latest state.
    var latestMetadata = Metadata()
    /// The metadata in the file beside the durable state.
    var durableMetadata = Metadata()
    /// The write of the crossing of zero that is under way.
    var crossingTicket: UInt64?
  }

  /// A timer's data beside its state.
  struct Metadata: Equatable {
    var answered: [IdempotencyRecord] = []
    /// The last crossings of zero.
    var ends: [TimerEnd] = []
  }

  init(clock: ClockAnchor, server: ServerRecord = ServerRecord()) {
    self.clock = clock
    revisions = RevisionCounter(server)
    publishedRevision = revisions.last
  }

  /// The highest revision that was published; whatever was ever given by a server before is not above it.
  private(set) var publishedRevision: Int

  // MARK: Looking

  /// The timer's durable state, which clients may see.
  func durable(_ id: TimerID) -> SharedTimer? {
    slots[id]?.durable
  }

  /// The timer's latest state, which the next decision is based on.
  func latest(_ id: TimerID) -> SharedTimer? {
    slots[id]?.latest
  }

  /// The write that a decision on this timer builds on; nil when its latest state is durable.
  func ticket(of id: TimerID) -> UInt64? {
    slots[id]?.ticket
  }

  /// The last write under way; nil when all is durable.
  var ticketUnderWay: UInt64? {
    pending.isEmpty ? nil : lastTicket
  }

  /// The writes under way, in their order.
  var tickets: [UInt64] { pending.keys.sorted() }

  /// The number of requested writes under way.
  var pendingCount: Int { pending.count - internalPendingCount }
  /// The number of the server's own writes under way, such as crossings of zero.
  private(set) var internalPendingCount = 0

  /// The durable timers, sorted by name.
  var durableTimers: [SharedTimer] {
    durableIDs.names.compactMap { slots[$0]?.durable }
  }

  var durableCount: Int { durableIDs.names.count }

  /// The number of durable timers in a scope.
  func durableCount(in scope: TimerScope) -> Int {
    if case .all = scope { durableCount } else { durableIDs.count(in: scope) }
  }

  /// The durable timers in a scope, sorted by name.
  func durableTimers(in scope: TimerScope) -> [SharedTimer] {
    if case .all = scope { return durableTimers }
    return durableIDs.names(in: scope).compactMap { slots[$0]?.durable }
  }

  /// The same for timers after a name; the sequence is lazy.
  func durableTimers(in scope: TimerScope, after id: TimerID?) -> some Sequence<SharedTimer> {
    durableIDs.names(in: scope, after: id).lazy.compactMap { slots[$0]?.durable }
  }

  /// Timers that exist as far as was decided.
  private(set) var latestCount = 0

  /// Timers that run or are paused as far as was decided, sorted by name.
  var activeIDs: [TimerID] {
    slots.values.compactMap(\.latest).filter(\.isActive).map(\.id).sorted()
  }

  // MARK: Deciding

  /// Restores the timers found on the disk, on the clock of this process.
  mutating func restore(_ records: [TimerRecord]) {
    for record in records {
      revisions.raise(to: record.timer.revision)
    }
    for record in records {
      let timer = withRun(record.timer)
      let metadata = Metadata(answered: record.answered, ends: record.ends)
      store(
        Slot(durable: timer, latest: timer, latestMetadata: metadata, durableMetadata: metadata),
        of: timer.id)
    }
    publishedRevision = revisions.last
    recentEnds = RecentEnds(
      records.flatMap { record in record.ends.map { ($0.revision, record.timer.id) } })
  }

  /// Forgets every timer, since others take their place; revisions go on above all that were given.
  mutating func reset(to server: ServerRecord) {
    slots = [:]
    durableIDs = SortedNames()
    pending = [:]
    internalPendingCount = 0
    latestCount = 0
    lastReported = lastTicket
    revisions.reset(to: server)
  }

  /// Returns whether a file's word for a revision can be believed.
  func hasIssued(_ revision: Int?) -> Bool {
    revision.map { $0 >= 1 && $0 <= revisions.last } ?? false
  }

  /// The timer of a file, with a run that can be told from other runs. A run without a revision, or with one that was
  /// never issued, gets the timer's revision, or the first one.
  mutating func withRun(_ timer: SharedTimer) -> SharedTimer {
    var timer = timer
    guard timer.run != nil else {
      timer.runRevision = nil
      return timer
    }
    if hasIssued(timer.runRevision) { return timer }
    // The first one is given to no run after it, and is the same at each start.
    revisions.raise(to: 1)
    timer.runRevision = max(1, timer.revision)
    return timer
  }

  /// Crossings of a timer that no client has received.
  func undeliveredEnds(_ id: TimerID) -> [Instant] {
    slots[id]?.durableMetadata.ends.filter { !$0.isDelivered }.map(\.at) ?? []
  }

  /// Timers with a published crossing above a revision, sorted by name.
  func idsWithEnds(after revision: Int) -> [TimerID] {
    guard let ids = recentEnds.ids(after: revision) else {
      return slots.filter { $0.value.durableMetadata.ends.last?.revision ?? 0 > revision }.keys
        .sorted()
    }
    return ids.sorted()
  }

  /// The published crossings of a timer above a revision, oldest first.
  func ends(_ id: TimerID, after revision: Int) -> [TimerEnd] {
    slots[id]?.durableMetadata.ends.filter { $0.revision > revision } ?? []
  }

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

  /// Makes proposals the latest state, together; they are durable when the write has been reported.
  ///
  /// A named change of no timer is remembered all the same.
  mutating func apply(
    _ proposals: [Proposal], named: IdempotentRequest? = nil, at now: Instant
  ) -> TimerWrite {
    lastTicket += 1
    var change = PendingChange(ticket: lastTicket)
    var records: [TimerID: TimerRecord?] = [:]
    var bases: Set<UInt64> = []
    var removals: [ServerRecord.Removal] = []
    for proposal in proposals {
      var slot = slots[proposal.id] ?? Slot()
      if let ticket = slot.ticket { bases.insert(ticket) }
      slot.ticket = lastTicket
      let proposal = numbered(proposal, &slot)
      slot.latest = proposal.after
      if let named {
        let request = named.record(revision: revisions.last, at: now)
        slot.latestMetadata.answered = IdempotencyRecord.keeping(
          slot.latestMetadata.answered, and: request, at: now)
        if proposal.after == nil { removals.append(.init(timer: proposal.id, request: request)) }
      }
      store(slot, of: proposal.id)
      records.updateValue(record(of: slot, at: now), forKey: proposal.id)
      change.proposals.append(proposal)
      change.metadata.append(slot.latestMetadata)
    }
    change.isInternal = proposals.contains { !$0.crossings.isEmpty }
    let unchanged = proposals.isEmpty ? named?.record(revision: revisions.last, at: now) : nil
    change.revision = revisions.last
    change.server = serverRecord(at: now, removals: removals, unchanged: unchanged)
    expectReport(of: change)
    return TimerWrite(
      ticket: lastTicket, timers: records, server: change.server,
      bases: bases,
      reported: lastReported, clock: clock.reading(at: now))
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
    slot.crossingTicket = lastTicket
    proposal.after = proposal.crossings.last?.timer
    return proposal
  }

  /// Marks a timer's crossings as received by a client: later servers need not send them to clients without a history.
  mutating func markDelivered(_ id: TimerID, at now: Instant) -> TimerWrite? {
    mark(id, asDelivered: true, at: now) { !$0.isDelivered }
  }

  /// Marks crossings that are still on their way to the disk when the connections close: no client receives them, so
  /// later servers send them.
  mutating func markUndelivered(at now: Instant) -> [TimerWrite] {
    let underWay = slots.filter { $0.value.crossingTicket != nil }.keys.sorted()
    return underWay.compactMap { id in
      let published = publishedRevision
      return mark(id, asDelivered: false, at: now) { $0.isDelivered && $0.revision > published }
    }
  }

  private mutating func mark(
    _ id: TimerID, asDelivered isDelivered: Bool, at now: Instant, where isMeant: (TimerEnd) -> Bool
  ) -> TimerWrite? {
    guard var slot = slots[id], slot.latest != nil,
      slot.latestMetadata.ends.contains(where: isMeant)
    else { return nil }
    lastTicket += 1
    let bases = Set([slot.ticket].compactMap(\.self))
    slot.latestMetadata.mark(asDelivered: isDelivered, where: isMeant)
    slot.durableMetadata.mark(asDelivered: isDelivered, where: isMeant)
    store(slot, of: id)
    // Writes under way will carry the mark, too.
    for ticket in slot.ticket == nil ? [] : tickets {
      guard let place = pending[ticket]?.proposals.firstIndex(where: { $0.id == id }) else {
        continue
      }
      pending[ticket]?.metadata[place].mark(asDelivered: isDelivered, where: isMeant)
    }
    expectReport(of: PendingChange(ticket: lastTicket, isInternal: true))
    return TimerWrite(
      ticket: lastTicket, timers: [id: record(of: slot, at: now)], bases: bases,
      reported: lastReported, clock: clock.reading(at: now))
  }

  /// The disk is to report this write.
  private mutating func expectReport(of change: PendingChange) {
    pending[change.ticket] = change
    if change.isInternal { internalPendingCount += 1 }
  }

  private func record(of slot: Slot, at now: Instant) -> TimerRecord? {
    slot.latest.map {
      TimerRecord(
        timer: $0, clock: clock.reading(at: now), answered: slot.latestMetadata.answered,
        ends: slot.latestMetadata.ends)
    }
  }

  /// The last write of a server that stops: no revision that could be given is wasted then.
  mutating func makeShutdownWrite(at now: Instant) -> TimerWrite {
    lastTicket += 1
    expectReport(of: PendingChange(ticket: lastTicket))
    var server = revisions.shutdownRecord(clock.reading(at: now))
    server.earlierClocks = earlierClocks.isEmpty ? nil : earlierClocks
    return TimerWrite(
      ticket: lastTicket, timers: [:], server: server,
      bases: [],
      reported: lastReported, clock: server.clock)
  }

  /// Adds a requester that waits for a write.
  mutating func wait(_ waiter: Waiter, for ticket: UInt64) {
    pending[ticket]?.waiters.append(waiter)
  }

  /// The one place where slots change; one that holds nothing any more goes.
  private mutating func store(_ slot: Slot, of id: TimerID) {
    let isEmpty = slot.durable == nil && slot.latest == nil && slot.ticket == nil
    let before = slots.updateValue(slot, forKey: id)
    if isEmpty { slots[id] = nil }
    if slot.durable != nil, before?.durable == nil { durableIDs.insert(id) }
    if slot.durable == nil, before?.durable != nil { durableIDs.remove(id) }
    latestCount += (slot.latest == nil ? 0 : 1) - (before?.latest == nil ? 0 : 1)
  }

  // MARK: The clocks

  /// Restores the clocks' readings of the files; has to be called before any timer is restored.
  mutating func restoreClocks(_ contents: TimerFolder.Contents, at now: Instant) {
    let present = clock.reading(at: now)
    let readings = contents.timers.map(\.clock)
    let boots = Set(readings.map(\.bootID))
    earlierClocks = contents.server.lastClocks.filter {
      $0.bootID != present.bootID && boots.contains($0.bootID)
    }.suffix(Self.earlierClocksMax)
    // A clock that was set while no server ran: nothing on the disk may know of it yet.
    let known = contents.server.clock.flatMap { $0.agrees(with: present) ? $0 : nil }
    let isBehind = readings.contains {
      $0.bootID == present.bootID && !$0.agrees(with: present)
        && $0.bootTime > known?.bootTime ?? -.infinity
    }
    storedWallOffset = isBehind ? nil : clock.wallOffset
  }

  private static let earlierClocksMax = 64

  /// A record from an edited file, on the clock of this process.
  func moved(_ record: TimerRecord, at now: Instant) -> TimerRecord {
    record.moved(to: clock.reading(at: now), by: earlierClocks)
  }

  /// True if the disk has another offset of the wall clock.
  var isClockDue: Bool { storedWallOffset != clock.wallOffset }

  /// The server's record, if it has to be written with the next change.
  private func serverRecord(
    at now: Instant, removals: [ServerRecord.Removal] = [], unchanged: IdempotencyRecord? = nil
  ) -> ServerRecord? {
    let reading = clock.reading(at: now)
    var record = revisions.recordIfDue(reading, removals: removals, unchanged: unchanged)
    if record == nil, isClockDue { record = revisions.record(reading) }
    if !earlierClocks.isEmpty { record?.earlierClocks = earlierClocks }
    return record
  }

  /// Writes what the clocks say, and nothing else.
  mutating func makeClockWrite(at now: Instant) -> TimerWrite {
    lastTicket += 1
    var change = PendingChange(ticket: lastTicket)
    change.server = serverRecord(at: now)
    pending[lastTicket] = change
    return TimerWrite(
      ticket: lastTicket, timers: [:], server: change.server, reported: lastReported,
      clock: change.server?.clock)
  }

  // MARK: What became of it

  /// Makes a write's states the durable ones.
  mutating func commit(_ ticket: UInt64) -> PendingChange? {
    lastReported = max(lastReported, ticket)
    guard let change = remove(ticket) else { return nil }
    publishedRevision = max(publishedRevision, change.revision)
    if let server = change.server {
      revisions.recordWasStored(server)
      storedWallOffset = server.clock?.wallOffset
    }
    for (proposal, metadata) in zip(change.proposals, change.metadata) {
      if let end = proposal.crossings.last?.timer { recentEnds.append(end.revision, of: end.id) }
      guard var slot = slots[proposal.id] else { continue }
      slot.durable = proposal.after
      slot.durableMetadata = metadata
      if slot.ticket == ticket { slot.ticket = nil }
      if slot.crossingTicket == ticket { slot.crossingTicket = nil }
      store(slot, of: proposal.id)
    }
    return change
  }

  private mutating func remove(_ ticket: UInt64) -> PendingChange? {
    guard let change = pending.removeValue(forKey: ticket) else { return nil }
    if change.isInternal { internalPendingCount -= 1 }
    return change
  }

  /// A write failed: the durable state stands, and all that was decided since falls.
  mutating func rollBack(_ ticket: UInt64) -> PendingChange? {
    lastReported = max(lastReported, ticket)
    guard let change = remove(ticket) else { return nil }
    for proposal in change.proposals {
      guard var slot = slots[proposal.id] else { continue }
      if slot.crossingTicket == ticket { slot.crossingTicket = nil }
      // A change that is based on this write fails with its own report; until then it is the latest.
      if slot.ticket == ticket {
        slot.latest = slot.durable
        slot.ticket = nil
        slot.latestMetadata = slot.durableMetadata
      }
      store(slot, of: proposal.id)
    }
    return change
  }
}

extension TimerTable.Metadata {
  fileprivate mutating func mark(
    asDelivered isDelivered: Bool, where isMeant: (TimerEnd) -> Bool
  ) {
    for index in ends.indices where isMeant(ends[index]) { ends[index].isDelivered = isDelivered }
  }
}

extension ClockReading {
  /// Returns whether the wall clock was not set between two readings of one start of the machine.
  fileprivate func agrees(with other: ClockReading) -> Bool {
    guard let step = wallStep(to: other) else { return false }
    return max(step, -step) < WallClockMonitor.changeMin
  }
}

/// A timer's next state, and its cause.
struct Proposal: Equatable {
  let id: TimerID
  /// nil: it is to be forgotten.
  var after: SharedTimer?
  let cause: SnapshotCause
  /// The crossings of zero that it consists of, oldest first; the last one leads to `after`. Empty for all else.
  var crossings: [ZeroCrossing] = []
  /// True if a subscriber is there to receive its crossings.
  var isDelivered = true
}

/// Decided changes of one write, and the requesters that wait for it.
struct PendingChange {
  let ticket: UInt64
  var proposals: [Proposal] = []
  /// The metadata of each timer after the write.
  var metadata: [TimerTable.Metadata] = []
  var waiters: [Waiter] = []
  /// True for the server's own work, which no requester waits for.
  var isInternal = false
  /// The server's record, if this write contains it.
  var server: ServerRecord?
  /// The highest revision that it gave.
  var revision = 0

  /// The states that came of it, each as of the instant of its change.
  var readings: [TimerReading] {
    proposals.compactMap(\.after).map { TimerReading($0, at: $0.changedAt) }
  }
}

extension PendingChange {
  /// The result for the requester.
  func outcome(of answer: Waiter.Answer) -> Outcome {
    switch answer {
    case .changedTimer: readings.first.map { .timer($0) } ?? .done
    case .changedTimers: .timers(readings)
    case .nothingFinished: .timers([])
    case .refusal: .done
    }
  }
}

/// A requester that gets its reply when a write is durable.
struct Waiter {
  let requester: Requester
  let tag: ReplyTag
  let answer: Answer
  /// The timer whose state is sent with an error.
  var timer: TimerID?
  /// The change's idempotency key, for its own requester.
  var key: ScopedIdempotencyKey?
  /// The timers that it may see.
  var scope = TimerScope.all

  enum Answer {
    /// With the one timer that was changed; with none when it was removed.
    case changedTimer
    case changedTimers
    /// There was nothing to finish.
    case nothingFinished
    /// It was refused already, by rules that looked at a state not durable yet.
    case refusal(ErrorReply)
  }
}

/// Where an answer goes.
enum Requester: Hashable {
  /// The place in the connection's queue of replies is kept for it.
  case connection(ConnectionID, place: Int)
  case http(HTTPRequestID, Payer, network: String)
}

extension TimerCommand {
  /// The cause under which its snapshot goes out.
  var cause: SnapshotCause {
    switch self {
    case .start: .started
    case .update, .message, .signal: .updated
    case .pause: .paused
    case .resume: .resumed
    case .finish: .finished
    case .reset: .reset
    case .addRemainingTime, .addElapsedTime: .adjusted
    case .lap: .lapped
    // Forgetting has a message of its own.
    case .remove: .updated
    }
  }
}
