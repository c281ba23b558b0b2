import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The end of a change: the store's report.
extension Hub {
  mutating func complete(_ report: StoreReport, _ turn: inout Turn) {
    timerTable.pending.recordReport(on: report.ticket)
    switch report.outcome {
    case .made: publish(report, &turn)
    case .repeated(let first): answerAsFirst(report.ticket, first, &turn)
    case .overtaken: decideAgain(report.ticket, as: .overtaken, &turn)
    case .failed(let trouble): rollBack(report.ticket, trouble, &turn)
    }
  }

  // MARK: Made

  private mutating func publish(_ report: StoreReport, _ turn: inout Turn) {
    guard let change = timerTable.commit(report) else { return }
    counters.changesMade += change.proposals.count
    becameDurable(change.proposals, at: turn.now)
    // The requester gets its reply first, then all subscribers get the broadcast.
    for waiter in change.waiters {
      answerWaiter(waiter, of: change, &turn)
      answerAhead(waiter.requester, &turn)
    }
    for proposal in change.proposals { broadcast(proposal, &turn) }
    for waiter in change.waiters { flush(waiter.requester, &turn) }
  }

  /// Brings up to date what goes by the durable states.
  private mutating func becameDurable(_ proposals: [Proposal], at now: Instant) {
    for proposal in proposals {
      if proposal.after == nil { lateEnds.remove(proposal.id) }
      if !proposal.cause.isEnd { unchangedSinceStart.remove(proposal.id) }
      quarantine.remove(proposal.id)
      reschedule(proposal.id, at: now)
    }
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

  // MARK: Made by another server

  /// Another server has made a change: it is durable, and shown as one of our own.
  mutating func publish(_ change: RemoteChange, _ turn: inout Turn) {
    let proposals = timerTable.merge(change, at: turn.now)
    idempotencyCache.record(change, at: turn.now)
    becameDurable(proposals, at: turn.now)
    for proposal in proposals { broadcast(proposal, &turn) }
  }

  /// The request of a change was made before, by another server: the requesters get that result, as for a request
  /// that is sent again.
  private mutating func answerAsFirst(
    _ ticket: UInt64, _ first: ChangeStamp, _ turn: inout Turn
  ) {
    turn.actions.log(.debug, "a request was made before, as change \(first)")
    decideAgain(ticket, as: .repeated, &turn)
  }

  // MARK: Not made

  /// Others came first: the change and all that was built on it are taken back, and their requests are decided again
  /// on the state that the others have made, in their order. Crossings of zero are scheduled again where they are
  /// still to come.
  private mutating func decideAgain(
    _ ticket: UInt64, as stage: ChangeStage, _ turn: inout Turn
  ) {
    let withdrawn = timerTable.withdraw(ticket, as: stage)
    for change in withdrawn {
      for proposal in change.proposals { reschedule(proposal.id, at: turn.now) }
      for waiter in change.waiters { forgetKey(of: waiter, of: change) }
    }
    let waiters = withdrawn.flatMap(\.waiters)
    for waiter in waiters { decideAgain(waiter.request, &turn) }
    for waiter in waiters { flush(waiter.requester, &turn) }
  }

  private mutating func forgetKey(of waiter: Waiter, of change: PendingChange) {
    guard let key = waiter.key else { return }
    if change.stage == .repeated {
      idempotencyCache.markMade(key, to: change.proposals.map(\.id))
    } else {
      idempotencyCache.drop(key, pendingAs: change.ticket)
    }
  }

  private mutating func decideAgain(_ request: ChangeRequest, _ turn: inout Turn) {
    var request = request
    request.overtakenCount += 1
    guard request.overtakenCount <= ChangeRequest.overtakenMax else {
      refuse(request.message.tag, .overtaken, timer: nil, to: request.requester, &turn)
      return
    }
    decide(request, &turn)
  }

  mutating func rollBack(
    _ ticket: UInt64, _ trouble: StorageTrouble, _ turn: inout Turn
  ) {
    guard let change = timerTable.rollBack(ticket) else { return }
    logStorageIfDue(&turn)
    // The reason for refusing all changes is logged once, and not with each change.
    let level: LogLevel = storageTrouble == nil ? .error : .debug
    turn.actions.logAboutPeers(level, "a change could not be stored: \(trouble)")
    retryClockRecord(at: turn.now)
    for proposal in change.proposals {
      reschedule(proposal.id, at: turn.now)
      // A crossing that is due all the same is tried again a little later.
      if let zero = timerTable.latest(proposal.id)?.zeroInstant, zero <= turn.now {
        zeros.set(proposal.id, turn.now + Self.storageRetry)
      }
    }
    for waiter in change.waiters {
      if let key = waiter.key { idempotencyCache.drop(key, pendingAs: ticket) }
      refuse(
        waiter.tag, .storageFailed, timer: waiter.timer, to: waiter.requester, &turn)
    }
    for waiter in change.waiters { flush(waiter.requester, &turn) }
  }

  private static let storageRetry: Seconds = 1

  /// Updates which files are behind the log: their changes are safe, but not in their files.
  mutating func updateFileErrors(
    _ troubles: [StorageTrouble], _ turn: inout Turn
  ) {
    filesLog.update(troubles.isEmpty ? nil : troubles)
    logStorageIfDue(&turn)
  }
}

extension SnapshotCause {
  fileprivate var isEnd: Bool {
    if case .ended = self { true } else { false }
  }
}
