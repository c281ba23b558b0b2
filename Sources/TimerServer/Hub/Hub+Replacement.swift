import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// A data folder that was put in place of the one before.
extension Hub {
  /// Replaces all timers by those of another data folder, which was put in place.
  ///
  /// Subscribers get the new timers as edits, once these are stored under new revisions. Then every connection is
  /// closed with a request to come back, and gets the new history.
  mutating func replaceData(
    with contents: StoreContents, _ turn: inout Turn
  ) {
    turn.actions.log(
      .warning,
      "the data folder was replaced; its \(contents.timers.count) timers are in use now")
    for remark in contents.remarks { turn.actions.log(.warning, remark) }
    for fault in contents.faults { turn.actions.log(.error, fault.line) }
    // Writes under way were decided for the previous folder, which is gone.
    turn.actions.changes = []
    let lost = StorageTrouble(
      reason: "the data was replaced", description: "the data that it was decided for was replaced")
    for ticket in timerTable.pending.tickets { rollBack(ticket, lost, &turn) }
    let before = timerTable.durableTimers.map(\.id)
    timerTable.reset(to: contents.server)
    timerTable.restoreClocks(contents, at: turn.now)
    let contents = contents.moved(to: timerTable.clock.reading(at: turn.now))
    history = contents.history
    idempotencyCache = IdempotencyCache()
    idempotencyCache.restore(contents, on: timerTable.clock.reading(at: turn.now))
    quarantine = Quarantine(contents)
    unchangedSinceStart = []
    timerTable.restore(contents.timers, stamps: contents.stamps)
    var proposals = contents.timers.map { record in
      var timer = timerTable.withRun(record.timer)
      timer.changedAt = turn.now
      timer.runChangedAt = turn.now
      return Proposal(id: timer.id, after: timer, cause: .external)
    }
    let restored = Set(proposals.map(\.id))
    for id in before {
      lateEnds.remove(id)
      reschedule(id, at: turn.now)
      if !restored.contains(id) { proposals.append(Proposal(id: id, after: nil, cause: .external)) }
    }
    for id in restored {
      reschedule(id, at: turn.now)
      for end in timerTable.undeliveredEnds(id) { lateEnds.add(id, endedAt: end) }
    }
    replacementTicket = apply(proposals, &turn)
  }

  /// Closes every connection once the new timers were broadcast, so that clients come back and get the new history.
  mutating func finishReplacement(_ ticket: UInt64, _ turn: inout Turn) {
    guard replacementTicket == ticket else { return }
    replacementTicket = nil
    for connection in sessions.keys { disconnect(connection, .restored, &turn) }
  }
}
