import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// A disk that refuses changes, and a data folder that was replaced.
extension Hub {
  /// Updates whether changes can be stored; nil means that they can.
  mutating func updateStorage(
    _ trouble: StorageTrouble?, _ turn: inout Turn
  ) {
    storageTrouble = trouble?.reason
    storageLog.update(trouble)
    logStorageIfDue(&turn)
  }

  /// Logs a change of the disk's state if it is due. Called each second.
  mutating func logStorageIfDue(_ turn: inout Turn) {
    switch storageLog.popLine(at: turn.now) {
    case .trouble(let trouble):
      turn.actions.log(.error, "changes can't be stored and are refused: \(trouble)")
    case .end: turn.actions.log(.info, "changes are stored again")
    case nil: break
    }
    switch filesLog.popLine(at: turn.now) {
    case .trouble(let errors):
      for error in errors.prefix(Self.fileErrorsLoggedMax) {
        turn.actions.log(.error, "a timer's file is behind: \(error)")
      }
      let more = errors.count - Self.fileErrorsLoggedMax
      if more > 0 { turn.actions.log(.error, "the files of \(more) more timers are behind") }
    case .end: turn.actions.log(.info, "every timer's file is up to date again")
    case nil: break
    }
  }

  private static let fileErrorsLoggedMax = 20

  /// Replaces all timers by those of another data folder, which was put in place.
  ///
  /// Subscribers get the new timers as edits, once these are stored under new revisions. Then every connection is
  /// closed with a request to come back, and gets the new history.
  mutating func replaceData(
    with contents: TimerFolder.Contents, _ turn: inout Turn
  ) {
    turn.actions.log(
      .warning,
      "the data folder was replaced; its \(contents.timers.count) timers are in use now")
    for remark in contents.remarks { turn.actions.log(.warning, remark) }
    for fault in contents.faults { turn.actions.log(.error, fault.line) }
    // Writes under way were decided for the previous folder, which is gone.
    turn.actions.writes = []
    let lost = DiskError("find", "the data folder", code: 116)
    for ticket in timerTable.tickets { rollBack(ticket, lost, &turn) }
    let before = timerTable.durableTimers.map(\.id)
    timerTable.reset(to: contents.server)
    timerTable.restoreClocks(contents, at: turn.now)
    let contents = contents.moved(to: timerTable.clock.reading(at: turn.now))
    history = contents.history
    idempotencyCache = IdempotencyCache()
    idempotencyCache.restore(contents, on: timerTable.clock.reading(at: turn.now))
    quarantine = Quarantine(contents)
    unchangedSinceStart = []
    timerTable.restore(contents.timers)
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

  /// Why a timer can't be changed: a file that is not ours to replace is in the place of its own.
  func obstacle(to id: TimerID) -> ErrorReply? {
    switch quarantine.obstacle(to: id) {
    case nil, .malformed, .contradiction: nil
    case .unreadable(let error):
      ErrorReply(
        .storageFailed,
        "the file of this timer can't be read (\(error.reason)), and is not overwritten")
    case .newerVersion(let version):
      ErrorReply(
        .storageFailed,
        "the file of this timer was written by a newer version (\(version)), and is not overwritten"
      )
    case .foreign:
      ErrorReply(
        .storageFailed,
        "a file of another program has the name of this timer's, and is not overwritten; take another name, or move it "
          + "away")
    }
  }
}

extension FileFault {
  /// For the log.
  var line: String { "\(fileName) was not loaded: \(fault)\(place)" }

  /// Where it is, as the end of a line.
  var place: String {
    movedTo.map { "; it was moved to \($0)" } ?? (fault.isDamage ? "" : "; it was left in place")
  }
}
