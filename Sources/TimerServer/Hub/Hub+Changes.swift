import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The life of a change, from its decision to its broadcast.
extension Hub {
  /// Makes proposals pending; the write is on its way to the disk.
  @discardableResult
  mutating func apply(
    _ proposals: [Proposal], named: IdempotentRequest? = nil, _ turn: inout Turn
  ) -> UInt64 {
    var write = timerTable.apply(proposals, named: named, at: turn.now)
    write.goneAlready = Set(
      proposals.filter { $0.after == nil && $0.cause == .external }.map(\.id))
    turn.actions.writes.append(write)
    for proposal in proposals { scheduleZero(proposal.id) }
    return write.ticket
  }

  /// Decides on the zeros of a timer that are due, together.
  ///
  /// One write at a time, so that a countdown that repeats faster than the disk can follow has no more than one
  /// under way, whatever falls due meanwhile.
  mutating func crossZero(_ id: TimerID, _ turn: inout Turn) {
    guard !timerTable.isCrossingUnderWay(id) else { return }
    crossDueZeros(id, &turn)
  }

  /// Crosses the zeros of a timer that are due, whatever is under way: a requested change comes after them, even if
  /// they still wait for the disk.
  mutating func crossDueZeros(_ id: TimerID, _ turn: inout Turn) {
    // The screens that followed it before a restart may not be back yet: they are sent it when they come.
    let isAwaited = unchangedSinceStart.contains(id) && lateEnds.isWithinReplayWindow(turn.now)
    let isDelivered = !isAwaited || !channels.groups(subscribedTo: id).isEmpty
    guard let crossing = timerTable.crossing(of: id, at: turn.now, isDelivered: isDelivered) else {
      return
    }
    apply([crossing], &turn)
  }

  /// The disk is done with a write.
  mutating func complete(_ report: WriteReport, _ turn: inout Turn) {
    switch report.result {
    case .success: publish(report.ticket, &turn)
    case .failure(let error): rollBack(report.ticket, error, &turn)
    }
  }

  // MARK: Durable

  private mutating func publish(_ ticket: UInt64, _ turn: inout Turn) {
    guard let change = timerTable.commit(ticket) else { return }
    counters.changesMade += change.proposals.count
    for proposal in change.proposals {
      if proposal.after == nil { lateEnds.remove(proposal.id) }
      if !proposal.cause.isEnd { unchangedSinceStart.remove(proposal.id) }
      quarantine.remove(proposal.id)
      reschedule(proposal.id, at: turn.now)
    }
    // The requester gets its reply first, then all subscribers get the broadcast.
    for waiter in change.waiters {
      answerWaiter(waiter, of: change, &turn)
      answerAhead(waiter.requester, &turn)
    }
    for proposal in change.proposals { broadcast(proposal, &turn) }
    for waiter in change.waiters { flush(waiter.requester, &turn) }
  }

  private mutating func answerWaiter(
    _ waiter: Waiter, of change: PendingChange, _ turn: inout Turn
  ) {
    let outcome = change.outcome(of: waiter.answer)
    if let key = waiter.key { idempotencyCache.complete(key, outcome) }
    let seen = outcome.within(waiter.scope)
    if case .refusal(let error) = waiter.answer {
      refuse(waiter.tag, error, timer: waiter.timer, to: waiter.requester, &turn)
    } else {
      reply(.accepted(waiter.tag, seen), to: waiter.requester, &turn)
    }
  }

  // MARK: Not durable

  mutating func rollBack(
    _ ticket: UInt64, _ error: DiskError, _ turn: inout Turn
  ) {
    guard let change = timerTable.rollBack(ticket) else { return }
    logStorageIfDue(&turn)
    // The reason for refusing all changes is logged once, and not with each change.
    let level: LogLevel = storageTrouble == nil ? .error : .debug
    turn.actions.logAboutPeers(level, "a change could not be stored: \(error)")
    retryClockRecord(at: turn.now)
    for proposal in change.proposals {
      reschedule(proposal.id, at: turn.now)
      // A crossing that is due all the same is tried again a little later.
      if let zero = timerTable.latest(proposal.id)?.zeroInstant, zero <= turn.now {
        zeros.set(proposal.id, turn.now + Self.storageRetry)
      }
    }
    for waiter in change.waiters {
      if let key = waiter.key { idempotencyCache.drop(key) }
      refuse(
        waiter.tag, .storageFailed, timer: waiter.timer, to: waiter.requester, &turn)
    }
    for waiter in change.waiters { flush(waiter.requester, &turn) }
  }

  private static let storageRetry: Seconds = 1

  /// Updates which files are behind the log: their changes are safe, but not in their files.
  mutating func updateFileErrors(
    _ errors: [DiskError], _ turn: inout Turn
  ) {
    filesLog.update(errors.isEmpty ? nil : errors)
    logStorageIfDue(&turn)
  }

  // MARK: Edits from outside

  /// Applies a change that someone made to a timer's file.
  mutating func applyExternalChange(
    _ change: ExternalChange, _ turn: inout Turn
  ) {
    switch change {
    case .edited(let record):
      let id = record.timer.id
      quarantine.remove(id)
      var timer = timerTable.moved(record, at: turn.now).timer
      // A run that this server did not start counts as a new one.
      if !timerTable.hasIssued(timer.runRevision) { timer.runRevision = nil }
      timer.changedAt = turn.now
      timer.runChangedAt = turn.now
      guard !timer.isSame(as: timerTable.latest(id)) else { return }
      apply([Proposal(id: id, after: timer, cause: .external)], &turn)
      turn.actions.log(.info, "the file of timer \(id.name) was edited and reloaded")
    case .removed(let id):
      quarantine.remove(id)
      guard timerTable.latest(id) != nil else { return }
      apply([Proposal(id: id, after: nil, cause: .external)], &turn)
      turn.actions.log(.info, "the file of timer \(id.name) was deleted, and its timer removed")
    case .released(let id):
      quarantine.remove(id)
      turn.actions.log(
        .info,
        "the file that blocked timer \(id.name) is gone, and the timer's own file is written again")
    case .damaged(let fault) where fault.movedTo != nil:
      turn.actions.log(
        .warning, "\(fault.fileName) was replaced by a change of its timer\(fault.place)")
    case .damaged(let fault):
      quarantine.add(fault)
      turn.actions.log(
        .error,
        "\(fault.fileName) was edited and can't be loaded: \(fault.fault); the timer keeps its state"
      )
    }
  }
}

extension SnapshotCause {
  fileprivate var isEnd: Bool {
    if case .ended = self { true } else { false }
  }
}

extension SharedTimer {
  /// Returns whether both look the same to clients.
  fileprivate func isSame(as other: SharedTimer?) -> Bool {
    guard let other else { return false }
    return settings == other.settings && run == other.run && laps == other.laps
      && endedAt == other.endedAt
  }
}
