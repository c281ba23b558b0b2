import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The authoritative timers: what is durable, and what was decided but is not on the disk yet.
///
/// Decisions build on the latest decided state; whatever is shown comes from the durable one.
struct Board {
  private var slots: [TimerID: Slot] = [:]
  private var pending: [UInt64: PendingChange] = [:]
  private var revisions: RevisionCounter
  private var lastTicket: UInt64 = 0
  /// The highest ticket whose report came: the disk needs no memory of failures before it.
  private var lastReported: UInt64 = 0
  let clock: ClockAnchor

  private struct Slot {
    var durable: SharedTimer?
    var latest: SharedTimer?
    /// The write that `latest` waits for.
    var ticket: UInt64?
    var answered: [AnsweredRequest] = []
    /// Late crossings of which nobody was told yet.
    var untoldEnds: [Instant] = []
  }

  init(clock: ClockAnchor, server: ServerRecord = ServerRecord()) {
    self.clock = clock
    revisions = RevisionCounter(server)
  }

  // MARK: Looking

  /// What may be shown of a timer.
  func durable(_ id: TimerID) -> SharedTimer? {
    slots[id]?.durable
  }

  /// What the next decision builds on.
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

  /// How many writes are under way.
  var pendingCount: Int { pending.count }

  /// What may be shown, sorted by name.
  var durableTimers: [SharedTimer] {
    slots.values.compactMap(\.durable).sorted { $0.id < $1.id }
  }

  /// Timers that exist as far as was decided.
  private(set) var latestCount = 0

  /// Timers that run or are paused as far as was decided, sorted by name.
  var activeIDs: [TimerID] {
    slots.values.compactMap(\.latest).filter(\.isActive).map(\.id).sorted()
  }

  // MARK: Deciding

  /// Takes up a timer as it was found on the disk.
  mutating func restore(_ record: TimerRecord, shifted: SharedTimer) {
    revisions.note(record.timer.revision)
    keep(
      Slot(
        durable: shifted, latest: shifted, ticket: nil, answered: record.answered,
        untoldEnds: record.untoldEnds), of: record.timer.id)
  }

  /// Forgets every timer, since others take their place; revisions go on above all that were given.
  mutating func beginAnew(_ server: ServerRecord) {
    slots = [:]
    pending = [:]
    latestCount = 0
    lastReported = lastTicket
    revisions.note(server.revisionCeiling)
  }

  /// Crossings from before this start of which nobody was told.
  func untoldEnds(_ id: TimerID) -> [Instant] {
    slots[id]?.untoldEnds ?? []
  }

  /// What a change would make of a timer, by the rules.
  func proposal(
    _ change: TimerChange, for id: TimerID, at now: Instant
  ) throws(TimerRefusal) -> Proposal {
    Proposal(
      id: id, after: try SharedTimer.applying(change, to: latest(id), id: id, now: now),
      cause: change.command.cause)
  }

  /// The crossing of zero that is due for a timer at `now`.
  func crossing(of id: TimerID, at now: Instant, late: Bool = false) -> Proposal? {
    latest(id)?.crossingZero(at: now).map {
      Proposal(id: id, after: $0.timer, cause: .ended(at: $0.at, late: late))
    }
  }

  /// Makes proposals the latest state, together; they are durable when the write has been reported.
  mutating func adopt(
    _ proposals: [Proposal], named: NamedRequest? = nil, at now: Instant
  ) -> TimerWrite {
    lastTicket += 1
    var change = PendingChange(ticket: lastTicket)
    var records: [TimerID: TimerRecord?] = [:]
    var bases: Set<UInt64> = []
    var removal: ServerRecord.Removal?
    for var proposal in proposals {
      let revision = revisions.next()
      proposal.after?.revision = revision
      var slot = slots[proposal.id] ?? Slot()
      if let ticket = slot.ticket { bases.insert(ticket) }
      slot.latest = proposal.after
      slot.ticket = lastTicket
      if let end = proposal.lateEnd { slot.untoldEnds.append(end) }
      if proposal.after == nil { slot.untoldEnds = [] }
      if let named {
        let request = AnsweredRequest(
          requestId: named.key.text, revision: revision, at: now,
          fingerprint: named.fingerprint.value)
        slot.answered = AnsweredRequest.keeping(slot.answered, and: request, at: now)
        if proposal.after == nil { removal = .init(timer: proposal.id, request: request) }
      }
      keep(slot, of: proposal.id)
      records.updateValue(record(of: slot, at: now), forKey: proposal.id)
      change.proposals.append(proposal)
    }
    change.server = revisions.recordIfDue(clock.reading(at: now), removal: removal)
    pending[lastTicket] = change
    return TimerWrite(
      ticket: lastTicket, timers: records, server: change.server,
      bases: bases,
      reported: lastReported)
  }

  /// Somebody was told of a late crossing: it is told no more, not by a later server either.
  mutating func adoptTold(_ id: TimerID, at now: Instant) -> TimerWrite? {
    guard var slot = slots[id], !slot.untoldEnds.isEmpty, slot.latest != nil else { return nil }
    lastTicket += 1
    let bases = Set([slot.ticket].compactMap(\.self))
    slot.untoldEnds = []
    keep(slot, of: id)
    pending[lastTicket] = PendingChange(ticket: lastTicket)
    return TimerWrite(
      ticket: lastTicket, timers: [id: record(of: slot, at: now)], bases: bases,
      reported: lastReported)
  }

  private func record(of slot: Slot, at now: Instant) -> TimerRecord? {
    slot.latest.map {
      TimerRecord(
        timer: $0, clock: clock.reading(at: now), answered: slot.answered,
        untoldEnds: slot.untoldEnds)
    }
  }

  /// The last write of a server that stops: no revision that could be given is wasted then.
  mutating func adoptFarewell(at now: Instant) -> TimerWrite {
    lastTicket += 1
    pending[lastTicket] = PendingChange(ticket: lastTicket)
    return TimerWrite(
      ticket: lastTicket, timers: [:], server: revisions.farewell(clock.reading(at: now)),
      bases: [],
      reported: lastReported)
  }

  /// Lets somebody wait for a write.
  mutating func wait(_ waiter: Waiter, for ticket: UInt64) {
    pending[ticket]?.waiters.append(waiter)
  }

  /// The one place where slots change; one that holds nothing any more goes.
  private mutating func keep(_ slot: Slot, of id: TimerID) {
    let isEmpty = slot.durable == nil && slot.latest == nil && slot.ticket == nil
    let before = slots.updateValue(slot, forKey: id)
    if isEmpty { slots[id] = nil }
    latestCount += (slot.latest == nil ? 0 : 1) - (before?.latest == nil ? 0 : 1)
  }

  // MARK: What became of it

  /// A write is durable: what it held may be shown.
  mutating func settle(_ ticket: UInt64) -> PendingChange? {
    lastReported = max(lastReported, ticket)
    guard let change = pending.removeValue(forKey: ticket) else { return nil }
    if let server = change.server { revisions.recordWasStored(server) }
    for proposal in change.proposals {
      guard var slot = slots[proposal.id] else { continue }
      slot.durable = proposal.after
      if slot.ticket == ticket { slot.ticket = nil }
      keep(slot, of: proposal.id)
    }
    return change
  }

  /// A write failed: the durable state stands, and all that was decided since falls.
  mutating func revert(_ ticket: UInt64) -> PendingChange? {
    lastReported = max(lastReported, ticket)
    guard let change = pending.removeValue(forKey: ticket) else { return nil }
    for proposal in change.proposals {
      guard var slot = slots[proposal.id] else { continue }
      // What was built on this write falls with its own report; until then it is the latest.
      if slot.ticket == ticket {
        slot.latest = slot.durable
        slot.ticket = nil
        slot.answered.removeAll { $0.revision > slot.durable?.revision ?? 0 }
      }
      keep(slot, of: proposal.id)
    }
    return change
  }
}

/// What a timer is to become, and why.
struct Proposal: Equatable {
  let id: TimerID
  /// nil: it is to be forgotten.
  var after: SharedTimer?
  let cause: SnapshotCause

  /// When a countdown crossed zero that no server saw do so.
  var lateEnd: Instant? {
    if case .ended(let instant, late: true) = cause { instant } else { nil }
  }
}

/// Decided changes that wait for the disk together, and who waits for them.
struct PendingChange {
  let ticket: UInt64
  var proposals: [Proposal] = []
  var waiters: [Waiter] = []
  /// What the server remembers, as far as this write holds it.
  var server: ServerRecord?

  /// The states that came of it, each as of the instant of its change.
  var readings: [TimerReading] {
    proposals.compactMap(\.after).map { TimerReading($0, at: $0.changedAt) }
  }
}

extension PendingChange {
  /// What the one who asked for it is told.
  func outcome(of answer: Waiter.Answer) -> Outcome {
    switch answer {
    case .changedTimer: readings.first.map { .timer($0) } ?? .done
    case .changedTimers: .timers(readings)
    case .noTimers: .timers([])
    case .refusal: .done
    }
  }
}

/// Somebody who is to be answered when a write is durable.
struct Waiter {
  let requester: Requester
  let tag: ReplyTag
  let answer: Answer
  /// The timer whose state stands beside an error.
  var timer: TimerID?
  /// The name that the change was made under, for the one who made it.
  var key: RequestKey?
  /// The timers that it may see.
  var scope = TimerScope.all

  enum Answer {
    /// With the one timer that was changed; with none when it was removed.
    case changedTimer
    case changedTimers
    /// There was nothing to change.
    case noTimers
    /// It was refused already, by rules that looked at a state not durable yet.
    case refusal(ErrorReply)
  }
}

/// Where an answer goes.
enum Requester: Hashable {
  /// The place in the connection's queue of replies is kept for it.
  case connection(ConnectionID, place: Int)
  case http(RequestID)
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
