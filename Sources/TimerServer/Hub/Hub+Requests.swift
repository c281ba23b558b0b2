import TimerCore
import TimerProtocol
import WebSocketTransport

/// Requests that change timers, on whatever way they came.
extension Hub {
  /// Decides on a change; its answer comes when what it depends on is durable.
  mutating func change(
    _ message: ClientMessage, by requester: Requester, _ caller: Caller, _ turn: inout Turn
  ) {
    let grant = caller.grant
    do throws(Postponed) {
      try check(message.request, by: grant)
      let named = caller.named(message.request)
      if try answerRepeated(message, named, by: requester, grant, &turn) { return }
      switch message.request {
      case .change(let id, let change, _):
        try decide(change, for: id, named, message, by: requester, &turn)
      case .finishAll(let press, _):
        try finishAll(press, named, message, by: requester, grant, &turn)
      default: preconditionFailure("asked only for what changes timers")
      }
    } catch {
      refuseWhenDurable(message.tag, error, by: requester, &turn)
    }
  }

  /// An error together with the write that it depends on: it is sent once that write is durable.
  private struct Postponed: Error {
    let error: ErrorReply
    var timer: TimerID?
    var ticket: UInt64?
  }

  private func check(_ request: ClientRequest, by grant: Grant) throws(Postponed) {
    do { try grant.check(request) } catch { throw Postponed(error: error) }
    guard case .no = stopping else { throw Postponed(error: .shuttingDown) }
    guard case .change(let id, let change, _) = request, let settings = change.command.settings
    else { return }
    if let bytes = settings.title?.utf8.count, bytes > options.titleBytesMax {
      let error = ErrorReply(
        .badRequest, "\"title\" has to be at most \(options.titleBytesMax) bytes long here")
      throw Postponed(error: error, timer: id)
    }
    if let count = settings.warnings?.count, count > options.warningsMax {
      let error = ErrorReply(
        .badRequest, "\"warnings\" has to have at most \(options.warningsMax) elements here")
      throw Postponed(error: error, timer: id)
    }
  }

  private mutating func refuseWhenDurable(
    _ tag: ReplyTag, _ postponed: Postponed, by requester: Requester, _ turn: inout Turn
  ) {
    guard let ticket = postponed.ticket else {
      refuse(tag, postponed.error, timer: postponed.timer, to: requester, &turn)
      return
    }
    let waiter = Waiter(
      requester: requester, tag: tag, answer: .refusal(postponed.error), timer: postponed.timer)
    timerTable.wait(waiter, for: ticket)
  }

  // MARK: One timer

  private mutating func decide(
    _ change: TimerChange, for id: TimerID, _ named: IdempotentRequest?, _ message: ClientMessage,
    by requester: Requester, _ turn: inout Turn
  ) throws(Postponed) {
    if let error = obstacle(to: id) { throw Postponed(error: error, timer: id) }
    crossDueZeros(id, &turn)
    let proposal: Proposal
    do { proposal = try timerTable.proposal(change, for: id, at: turn.now) } catch {
      throw Postponed(
        error: ErrorReply(error, timer: id), timer: id, ticket: timerTable.ticket(of: id))
    }
    if case .start(let start) = change.command, !start.force,
      let why = quarantine.reportLoss(of: id)
    {
      throw Postponed(
        error: ErrorReply(
          .storageFailed,
          "the file of this timer was damaged and is in quarantine (\(why)); send \"start\" again, or "
            + "with \"force\":true, to start over",
          isRetryable: false))
    }
    if timerTable.latest(id) == nil, timerTable.latestCount >= options.timersMax {
      throw Postponed(
        error: ErrorReply(
          .tooManyTimers,
          "there are \(options.timersMax) timers, the maximum; remove one first"))
    }
    let ticket = apply([proposal], named: named, &turn)
    timerTable.wait(
      Waiter(
        requester: requester, tag: message.tag, answer: .changedTimer, timer: id,
        key: named?.key),
      for: ticket)
    if let named { idempotencyCache.record(named, .pending(ticket), at: turn.now) }
  }

  // MARK: All timers

  private mutating func finishAll(
    _ press: Instant?, _ named: IdempotentRequest?, _ message: ClientMessage,
    by requester: Requester,
    _ grant: Grant, _ turn: inout Turn
  ) throws(Postponed) {
    for id in timerTable.activeIDs where grant.scope.contains(id) {
      crossDueZeros(id, &turn)
    }
    var proposals: [Proposal] = []
    for id in timerTable.activeIDs where grant.scope.contains(id) {
      // A timer that changed since the press ends at that change: it vetoes the others no more than itself.
      let instant = press.map { press in
        press < turn.now - TimerLimits.pressAgeMax
          ? press : max(press, timerTable.latest(id)?.runChangedAt ?? press)
      }
      let change = TimerChange(.finish(resetTime: false), at: instant)
      do { proposals.append(try timerTable.proposal(change, for: id, at: turn.now)) } catch {
        throw Postponed(
          error: ErrorReply(error, timer: id), timer: id, ticket: timerTable.ticket(of: id))
      }
    }
    // A named one that found nothing is remembered too: sent again it must not end what has begun since.
    guard !proposals.isEmpty || named != nil else {
      // The answer depends on changes that may not be durable yet, so it waits for them.
      if let ticket = timerTable.ticketUnderWay {
        timerTable.wait(
          Waiter(requester: requester, tag: message.tag, answer: .nothingFinished), for: ticket)
      } else {
        reply(.accepted(message.tag, .timers([])), to: requester, &turn)
      }
      return
    }
    let ticket = apply(proposals, named: named, &turn)
    timerTable.wait(
      Waiter(requester: requester, tag: message.tag, answer: .changedTimers, key: named?.key),
      for: ticket)
    if let named { idempotencyCache.record(named, .pending(ticket), at: turn.now) }
  }

  // MARK: The same request again

  /// Answers a change that was made under this name before; false when there was none.
  private mutating func answerRepeated(
    _ message: ClientMessage, _ named: IdempotentRequest?, by requester: Requester, _ grant: Grant,
    _ turn: inout Turn
  ) throws(Postponed) -> Bool {
    guard let named, let entry = idempotencyCache.entry(named.key, at: turn.now) else {
      return false
    }
    guard entry.matches(named) else {
      throw Postponed(
        error: ErrorReply(
          .badRequest, "this \"requestId\" was used for another request; use a new one"))
    }
    switch entry.state {
    case .pending(let ticket):
      timerTable.wait(
        Waiter(
          requester: requester, tag: message.tag, answer: message.answer, scope: grant.scope),
        for: ticket)
    case .made(let outcome):
      reply(.accepted(message.tag, outcome.within(grant.scope)), to: requester, &turn)
    case .restored(let revisions, let removed):
      let outcome = restoredOutcome(of: message, revisions, removed: removed, at: turn.now)
      reply(.accepted(message.tag, outcome.within(grant.scope)), to: requester, &turn)
    }
    return true
  }

  /// The result of a change from before the restart: the state that it made, as long as that is current.
  private func restoredOutcome(
    of message: ClientMessage, _ revisions: [TimerID: Int], removed: Bool, at now: Instant
  ) -> Outcome {
    if removed { return .done }
    let readings = revisions.sorted { $0.key < $1.key }.compactMap { id, revision in
      timerTable.durable(id).map { timer in
        TimerReading(timer, at: timer.revision == revision ? timer.changedAt : now)
      }
    }
    if case .finishAll = message.request { return .timers(readings) }
    return readings.first.map { .timer($0) } ?? .done
  }
}

extension Outcome {
  /// As far as it is about these timers; a request of the same name may have been another's.
  func within(_ scope: TimerScope) -> Outcome {
    switch self {
    case .timer(let reading): scope.contains(reading.timer.id) ? self : .done
    case .timers(let readings): .timers(readings.filter { scope.contains($0.timer.id) })
    case .page(let readings, let next):
      .page(readings.filter { scope.contains($0.timer.id) }, next: next)
    case .done, .synced, .authenticated, .subscribed: self
    }
  }
}

extension TimerCommand {
  /// The settings that the command changes.
  fileprivate var settings: TimerUpdate? {
    switch self {
    case .start(let start): start.settings
    case .update(let update): update
    default: nil
    }
  }
}

extension ClientMessage {
  /// The shape of the answer to a change.
  fileprivate var answer: Waiter.Answer {
    if case .finishAll = request { .changedTimers } else { .changedTimer }
  }
}
