import TimerCore
import TimerProtocol
import TimerStorage

/// The end of changes: their states are durable, or as if they had never been decided.
extension TimerTable {
  /// Makes a change's states the durable ones.
  mutating func commit(_ report: StoreReport) -> PendingChange? {
    guard var change = pending.end(report.ticket, as: .published) else { return nil }
    if let first = report.revision { renumber(&change, from: first) }
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
      if report.revision != nil {
        durableStamps[proposal.id] = proposal.after == nil ? nil : stamp(change.ticket)
      }
      if slot.crossingTicket == change.ticket { slot.crossingTicket = nil }
      if slot.ticket == change.ticket { slot.restoreDurable() }
      store(slot, of: proposal.id)
    }
    return change
  }

  /// The change gets the revisions of a store that numbers changes itself, and those after it move along: a condition
  /// of a request is never judged by a revision that another change has.
  private mutating func renumber(_ change: inout PendingChange, from first: Int) {
    guard let given = change.revisions else { return }
    let final = Renumbering(from: given.lowerBound, to: first)
    for index in change.proposals.indices {
      let slot = slots[change.proposals[index].id]
      let before = slot?.durable.map { slot?.durableMetadata.record(of: $0, clock.start) } ?? nil
      change.renumber(index, final, after: before)
    }
    let shift = first - given.lowerBound
    change.revisions = given.lowerBound + shift...given.upperBound + shift
    if shift != 0 { moveLater(than: change, from: given.lowerBound, by: shift) }
    revisions.raise(to: max(change.revision, revisions.last + shift))
  }

  private mutating func moveLater(than change: PendingChange, from first: Int, by shift: Int) {
    var firsts: [TimerID: Int] = [:]
    for proposal in change.proposals { firsts[proposal.id] = first }
    pending.renumber(&firsts, by: shift)
    for (id, first) in firsts {
      guard var slot = slots[id], slot.ticket != change.ticket, let latest = slot.latest else {
        continue
      }
      let record = Renumbering(from: first, to: first + shift).record(
        slot.latestMetadata.record(of: latest, clock.start), after: nil)
      slot.latest = record.timer
      slot.latestMetadata = Metadata(record)
      store(slot, of: id)
    }
  }

  /// A change failed: the durable state stands, and all that was decided since is rolled back with it.
  mutating func rollBack(_ ticket: UInt64) -> PendingChange? {
    guard let change = pending.end(ticket, as: .failed) else { return nil }
    for proposal in change.proposals {
      guard var slot = slots[proposal.id] else { continue }
      if slot.crossingTicket == ticket { slot.crossingTicket = nil }
      // A change that is based on this one fails with its own report; until then it is the latest.
      if slot.ticket == ticket { slot.restoreDurable() }
      store(slot, of: proposal.id)
    }
    return change
  }

  /// Takes back a change that was not made since others came first, and all that was built on it: their requests are
  /// decided again. In the order of their decisions.
  mutating func withdraw(_ ticket: UInt64, as stage: ChangeStage) -> [PendingChange] {
    guard let first = pending.end(ticket, as: stage) else { return [] }
    var withdrawn = [first]
    var ids = Set(first.proposals.map(\.id))
    for later in pending.changes(after: ticket)
    where later.proposals.contains(where: { ids.contains($0.id) }) {
      ids.formUnion(later.proposals.map(\.id))
      if let change = pending.end(later.ticket, as: .overtaken) { withdrawn.append(change) }
    }
    let tickets = Set(withdrawn.map(\.ticket))
    let remaining = pending.last(of: ids)
    for id in ids { restore(id, to: remaining[id], without: tickets) }
    return withdrawn
  }

  /// The latest state is that of the last change that is still under way, or the durable one.
  private mutating func restore(
    _ id: TimerID, to change: TimerChangeUnderWay?, without withdrawn: Set<UInt64>
  ) {
    guard var slot = slots[id] else { return }
    if slot.crossingTicket.map(withdrawn.contains) == true { slot.crossingTicket = nil }
    slot.restoreDurable()
    if let change {
      slot.ticket = change.ticket
      slot.latest = change.proposal.after
      slot.latestMetadata = change.metadata
    }
    store(slot, of: id)
  }

  /// Takes over what another server has made. What is under way for its timers stays the latest until it is reported.
  mutating func merge(_ change: RemoteChange, at now: Instant) -> [Proposal] {
    revisions.raise(to: change.revision)
    publishedRevision = max(publishedRevision, change.revision)
    return change.timers.sorted {
      $0.value?.timer.revision ?? .max < $1.value?.timer.revision ?? .max
    }.compactMap { merge($0.value, of: $0.key, change, at: now) }
  }

  private mutating func merge(
    _ theirs: TimerRecord?, of id: TimerID, _ change: RemoteChange, at now: Instant
  ) -> Proposal? {
    var slot = slots[id] ?? Slot()
    let record = theirs.map { moved($0, at: now) }
    slot.durable = record?.timer
    slot.durableMetadata = record.map(Metadata.init) ?? Metadata()
    let cause = change.causes[id]
    if cause != nil { durableStamps[id] = record == nil ? nil : change.stamp }
    if slot.ticket == nil { slot.restoreDurable() }
    store(slot, of: id)
    guard var cause else { return nil }
    if let theirs { cause.shift(by: shift(of: theirs, at: now)) }
    var proposal = Proposal(id: id, after: record?.timer, cause)
    let ends = record?.ends.suffix(proposal.crossings.count) ?? []
    proposal.isDelivered = ends.allSatisfy(\.isDelivered)
    if let end = proposal.crossings.last?.timer { recentEnds.append(end.revision, of: id) }
    return proposal
  }
}

extension TimerTable.Slot {
  /// Nothing is under way any more.
  fileprivate mutating func restoreDurable() {
    latest = durable
    latestMetadata = durableMetadata
    ticket = nil
  }
}
