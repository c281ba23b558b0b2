import TimerCore
import TimerProtocol
import TimerStorage

/// The changes under way, from their submission to the report of the store.
struct PendingChanges {
  private var changes: [UInt64: PendingChange] = [:]
  private var lastTicket: UInt64 = 0
  /// The highest ticket that was reported: the store may forget failures before it.
  private(set) var lastReported: UInt64 = 0
  /// The number of the server's own changes, such as crossings of zero.
  private(set) var internalCount = 0

  /// The number of requested changes.
  var requestedCount: Int { changes.count - internalCount }

  /// The tickets of the changes under way, oldest first.
  var tickets: [UInt64] { changes.keys.sorted() }

  /// The last ticket under way; nil when all changes are durable.
  var last: UInt64? { changes.keys.max() }

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
  }

  /// Ends a change; nil if that has happened already, together with one that it was built on.
  mutating func end(_ ticket: UInt64, as stage: ChangeStage) -> PendingChange? {
    lastReported = max(lastReported, ticket)
    guard var change = changes.removeValue(forKey: ticket) else { return nil }
    if change.isInternal { internalCount -= 1 }
    change.advance(to: stage)
    return change
  }

  /// Forgets all of them.
  mutating func removeAll() {
    changes = [:]
    internalCount = 0
    lastReported = lastTicket
  }

  /// Adds a requester that waits for a change.
  mutating func wait(_ waiter: Waiter, for ticket: UInt64) {
    changes[ticket]?.waiters.append(waiter)
  }

  /// The changes after this one, in their order.
  func changes(after ticket: UInt64) -> [PendingChange] {
    changes.values.filter { $0.ticket > ticket }.sorted { $0.ticket < $1.ticket }
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

  /// The last change of a timer.
  func last(
    of id: TimerID
  ) -> (ticket: UInt64, proposal: Proposal, metadata: TimerTable.Metadata)? {
    for ticket in tickets.reversed() {
      guard let change = changes[ticket],
        let index = change.proposals.firstIndex(where: { $0.id == id })
      else { continue }
      return (ticket, change.proposals[index], change.metadata[index])
    }
    return nil
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
