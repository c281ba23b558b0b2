import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// A disk that takes no changes, and a data folder that somebody has replaced.
extension Hub {
  /// Whether changes are taken, as the disk's thread tells; nil: they are.
  mutating func note(
    _ trouble: StorageTrouble?, at now: Instant, _ actions: inout HubActions
  ) {
    storageTrouble = trouble?.reason
    storageLog.follow(trouble)
    logStorageIfDue(at: now, &actions)
  }

  /// Logs how the disk is when the log has not told yet, and may; to be asked each second.
  mutating func logStorageIfDue(at now: Instant, _ actions: inout HubActions) {
    switch storageLog.takeNews(at: now) {
    case .trouble(let trouble):
      actions.log(.error, "changes are not stored, and refused: \(trouble)")
    case .end: actions.log(.info, "changes are stored again")
    case nil: break
    }
    switch filesLog.takeNews(at: now) {
    case .trouble(let errors):
      for error in errors.prefix(Self.fileErrorsToldMax) {
        actions.log(.error, "a timer's file is behind: \(error)")
      }
      let more = errors.count - Self.fileErrorsToldMax
      if more > 0 { actions.log(.error, "the files of \(more) more timers are behind") }
    case .end: actions.log(.info, "every timer's file is up to date again")
    case nil: break
    }
  }

  private static let fileErrorsToldMax = 20

  /// Another folder lies at the path: its timers are the ones that count from here on.
  ///
  /// Whoever looks on is told of them as of edits, once they are stored under revisions of now; after that every
  /// connection is closed, and learns the new history when it is back.
  mutating func takeUp(
    _ contents: TimerFolder.Contents, at now: Instant, _ actions: inout HubActions
  ) {
    actions.log(
      .warning,
      "another data folder was put in place; its \(contents.timers.count) timers count now")
    for remark in contents.remarks { actions.log(.warning, remark) }
    for fault in contents.faults { actions.log(.error, fault.line) }
    // What is on its way was decided on the folder before, which is not there to take it.
    actions.writes = []
    let lost = DiskError("find", "the data folder", code: 116)
    for ticket in board.tickets { fall(ticket, lost, at: now, &actions) }
    let before = board.durableTimers.map(\.id)
    board.beginAnew(contents.server)
    board.restoreClocks(contents, at: now)
    let contents = contents.moved(to: board.clock.reading(at: now))
    history = contents.history
    ledger = IdempotencyCache()
    ledger.restore(contents, on: board.clock.reading(at: now))
    quarantine = Quarantine(contents)
    healthPage = HealthPage()
    untouched = []
    board.restore(contents.timers)
    var proposals = contents.timers.map { record in
      var timer = board.withRun(record.timer)
      timer.changedAt = now
      timer.runChangedAt = now
      return Proposal(id: timer.id, after: timer, cause: .external)
    }
    let restored = Set(proposals.map(\.id))
    for id in before {
      lateEnds.forget(id)
      follow(id, at: now)
      if !restored.contains(id) { proposals.append(Proposal(id: id, after: nil, cause: .external)) }
    }
    for id in restored {
      follow(id, at: now)
      for end in board.undeliveredEnds(id) { lateEnds.note(id, endedAt: end) }
    }
    takingUp = adopt(proposals, at: now, &actions)
  }

  /// Once the timers of the other folder are told, connections come back to a server with another history.
  mutating func finishTakingUp(_ ticket: UInt64, _ actions: inout HubActions) {
    guard takingUp == ticket else { return }
    takingUp = nil
    for connection in sessions.keys { dismiss(connection, .restored, &actions) }
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
    movedTo.map { "; it is in \($0) now" } ?? (fault.isDamage ? "" : "; it stays where it is")
  }
}
