import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The authoritative timers: the durable states, and those that are decided but not on the disk yet.
///
/// Decisions are based on the latest decided state. Clients only see durable states.
struct TimerTable {
  private(set) var slots: [TimerID: Slot] = [:]
  /// The names of durable timers, sorted.
  private var durableIDs = SortedNames()
  var pending = PendingChanges()
  var revisions: RevisionCounter
  var recentEnds = RecentEnds([])
  var clock: ClockAnchor
  /// The last readings of earlier starts of the machine that files still refer to.
  var earlierClocks: [ClockReading] = []
  /// The wall clock's offset that is on the disk.
  var storedWallOffset: Seconds?
  /// Names this run of the server in the stamps of its changes.
  private let epoch: String

  struct Slot {
    var durable: SharedTimer?
    var latest: SharedTimer?
    /// The change that `latest` comes from, as long as it is under way.
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

  /// The change that each durable timer comes from, if several servers share the store; a single one needs none.
  var durableStamps: [TimerID: ChangeStamp] = [:]

  /// `epoch` names this run of the server.
  init(clock: ClockAnchor, server: ServerRecord = ServerRecord(), epoch: String) {
    self.clock = clock
    self.epoch = epoch
    revisions = RevisionCounter(server)
    publishedRevision = revisions.last
  }

  /// The highest revision that was published; whatever was ever given by a server before is not above it.
  var publishedRevision: Int

  // MARK: Looking

  /// The timer's durable state, which clients may see.
  func durable(_ id: TimerID) -> SharedTimer? {
    slots[id]?.durable
  }

  /// The timer's latest state, which the next decision is based on.
  func latest(_ id: TimerID) -> SharedTimer? {
    slots[id]?.latest
  }

  /// The change that a decision on this timer builds on; nil when its latest state is durable.
  func ticket(of id: TimerID) -> UInt64? {
    slots[id]?.ticket
  }

  /// The number of requested changes under way.
  var pendingCount: Int { pending.requestedCount }
  /// The number of the server's own changes under way, such as crossings of zero.
  var internalPendingCount: Int { pending.internalCount }

  /// The stamp of a change of this server.
  func stamp(_ ticket: UInt64) -> ChangeStamp { ChangeStamp(server: epoch, ticket: ticket) }

  /// The change that a timer's latest state comes from; nil where there is no timer.
  func latestStamp(of id: TimerID, _ slot: Slot) -> ChangeStamp? {
    slot.latest == nil ? nil : slot.ticket.map(stamp) ?? durableStamps[id]
  }

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

  // MARK: The start

  /// Restores the timers found on the disk, on the clock of this process.
  mutating func restore(_ records: [TimerRecord], stamps: [TimerID: ChangeStamp] = [:]) {
    for record in records {
      revisions.raise(to: record.timer.revision)
    }
    for record in records {
      let timer = withRun(record.timer)
      let metadata = Metadata(record)
      store(
        Slot(
          durable: timer, latest: timer, latestMetadata: metadata, durableMetadata: metadata),
        of: timer.id)
    }
    durableStamps = stamps
    publishedRevision = revisions.last
    recentEnds = RecentEnds(
      records.flatMap { record in record.ends.map { ($0.revision, record.timer.id) } })
  }

  /// Forgets every timer, since others take their place; revisions go on above all that were given.
  mutating func reset(to server: ServerRecord) {
    slots = [:]
    durableIDs = SortedNames()
    pending.removeAll()
    latestCount = 0
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

  /// The one place where slots change; an empty slot is removed.
  mutating func store(_ slot: Slot, of id: TimerID) {
    let isEmpty = slot.durable == nil && slot.latest == nil && slot.ticket == nil
    let before = slots.updateValue(slot, forKey: id)
    if isEmpty { slots[id] = nil }
    if slot.durable != nil, before?.durable == nil { durableIDs.insert(id) }
    if slot.durable == nil, before?.durable != nil { durableIDs.remove(id) }
    latestCount += (slot.latest == nil ? 0 : 1) - (before?.latest == nil ? 0 : 1)
  }
}
