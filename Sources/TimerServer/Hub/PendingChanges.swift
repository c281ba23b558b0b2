import SharedAlgorithms
import TimerCore
import TimerProtocol
import TimerStorage

/// The changes under way, from their submission to the report of the store.
struct PendingChanges {
  private var changes: [UInt64: PendingChange] = [:]
  /// The tickets of the changes under way, oldest first.
  private(set) var tickets: [UInt64] = []
  private var lastTicket: UInt64 = 0
  /// The highest ticket that was reported: the store may forget failures before it.
  private(set) var lastReported: UInt64 = 0
  /// The number of the server's own changes, such as crossings of zero.
  private(set) var internalCount = 0

  /// The number of requested changes.
  var requestedCount: Int { changes.count - internalCount }

  /// The last ticket under way; nil when all changes are durable.
  var last: UInt64? { tickets.last }

  mutating func nextTicket() -> UInt64 {
    lastTicket += 1
    return lastTicket
  }

  /// The change is on its way to the store, which is to report on it.
  mutating func submit(_ change: PendingChange) {
    var change = change
    change.advance(to: .submitted)
    if change.isInternal { internalCount += 1 }
    changes[change.ticket] = change
    tickets.append(change.ticket)
  }

  /// The store has reported on a change.
  mutating func recordReport(on ticket: UInt64) {
    lastReported = max(lastReported, ticket)
  }

  /// Ends a change; nil if that has happened already, together with one that it was built on.
  mutating func end(_ ticket: UInt64, as stage: ChangeStage) -> PendingChange? {
    guard var change = changes.removeValue(forKey: ticket) else { return nil }
    tickets.remove(at: index(of: ticket))
    if change.isInternal { internalCount -= 1 }
    change.advance(to: stage)
    return change
  }

  /// Forgets all of them.
  mutating func removeAll() {
    changes = [:]
    tickets = []
    internalCount = 0
    lastReported = lastTicket
  }

  /// Adds a requester that waits for a change.
  mutating func wait(_ waiter: Waiter, for ticket: UInt64) {
    changes[ticket]?.waiters.append(waiter)
  }

  /// The changes after this one, in their order.
  func changes(after ticket: UInt64) -> [PendingChange] {
    tickets[index(of: ticket + 1)...].compactMap { changes[$0] }
  }

  /// Moves the revisions of the changes under way by `shift`. `firsts` has the first revision of each timer that is
  /// not final; those of further timers are added.
  mutating func renumber(_ firsts: inout [TimerID: Int], by shift: Int) {
    for ticket in tickets {
      guard var change = changes[ticket], let given = change.revisions else { continue }
      for index in change.proposals.indices {
        let first = firsts[change.proposals[index].id, default: given.lowerBound]
        firsts[change.proposals[index].id] = first
        change.renumber(index, Renumbering(from: first, to: first + shift), after: nil)
      }
      change.revisions = given.lowerBound + shift...given.upperBound + shift
      changes[ticket] = change
    }
  }

  /// The last change of each of these timers that has one, found in one pass.
  func last(of ids: Set<TimerID>) -> [TimerID: TimerChangeUnderWay] {
    var last: [TimerID: TimerChangeUnderWay] = [:]
    for ticket in tickets.reversed() where last.count < ids.count {
      guard let change = changes[ticket] else { continue }
      for (proposal, metadata) in zip(change.proposals, change.metadata)
      where ids.contains(proposal.id) && last[proposal.id] == nil {
        last[proposal.id] = TimerChangeUnderWay(
          ticket: ticket, proposal: proposal, metadata: metadata)
      }
    }
    return last
  }

  /// The index of a ticket, or of the first one after it.
  private func index(of ticket: UInt64) -> Int {
    tickets.partitioningIndex { $0 < ticket }
  }

  /// Changes what every change of a timer carries beside its state.
  mutating func updateMetadata(of id: TimerID, _ update: (inout TimerTable.Metadata) -> Void) {
    for ticket in tickets {
      guard let index = changes[ticket]?.proposals.firstIndex(where: { $0.id == id }),
        var metadata = changes[ticket]?.metadata[index]
      else { continue }
      update(&metadata)
      changes[ticket]?.metadata[index] = metadata
    }
  }
}

/// The part of a change under way that is about one timer.
struct TimerChangeUnderWay {
  let ticket: UInt64
  let proposal: Proposal
  let metadata: TimerTable.Metadata
}
