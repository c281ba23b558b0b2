import TimerCore
import TimerProtocol
import WebSocketTransport

/// Requests that change timers, on whatever way they came.
extension Hub {
  /// Decides on a change; its answer comes when what it depends on is durable.
  mutating func change(
    _ message: ClientMessage, by requester: Requester, _ caller: Caller, _ turn: inout Turn
  ) {
    decide(ChangeRequest(message, by: requester, caller, at: turn.now), &turn)
  }

  mutating func decide(_ request: ChangeRequest, _ turn: inout Turn) {
    do throws(Postponed) {
      try check(request.message.request, by: request.caller.grant)
      let named = request.caller.named(request.message.request)
      if try answerRepeated(request, named, &turn) { return }
      switch request.message.request {
      case .change(let id, let change, _): try decide(change, for: id, named, request, &turn)
      case .finishAll(let press, _): try finishAll(press, named, request, &turn)
      default: preconditionFailure("asked only for what changes timers")
      }
    } catch {
      refuseWhenDurable(request, error, &turn)
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
    _ request: ChangeRequest, _ postponed: Postponed, _ turn: inout Turn
  ) {
    guard let ticket = postponed.ticket else {
      refuse(
        request.message.tag, postponed.error, timer: postponed.timer, to: request.requester, &turn)
      return
    }
    let answer = Waiter.Answer.refusal(postponed.error)
    timerTable.pending.wait(
      Waiter(request: request, answer: answer, timer: postponed.timer), for: ticket)
  }

  // MARK: One timer

  private mutating func decide(
    _ change: TimerChange, for id: TimerID, _ named: IdempotentRequest?,
    _ request: ChangeRequest, _ turn: inout Turn
  ) throws(Postponed) {
    if let error = obstacle(to: id) { throw Postponed(error: error, timer: id) }
    crossDueZeros(id, at: request.instant(after: timerTable.latest(id)), &turn)
    let instant = request.instant(after: timerTable.latest(id))
    let proposal: Proposal
    do { proposal = try timerTable.proposal(change, for: id, at: instant) } catch {
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
    timerTable.pending.wait(
      Waiter(request: request, answer: .changedTimer, timer: id, key: named?.key), for: ticket)
    if let named { idempotencyCache.record(named, .pending(ticket), at: turn.now) }
  }

  // MARK: All timers

  private mutating func finishAll(
    _ press: Instant?, _ named: IdempotentRequest?, _ request: ChangeRequest, _ turn: inout Turn
  ) throws(Postponed) {
    let scope = request.caller.grant.scope
    for id in timerTable.activeIDs where scope.contains(id) {
      crossDueZeros(id, at: request.instant(after: timerTable.latest(id)), &turn)
    }
    var proposals: [Proposal] = []
    for id in timerTable.activeIDs where scope.contains(id) {
      let now = request.instant(after: timerTable.latest(id))
      // A timer that changed since the press ends at that change: it vetoes the others no more than itself.
      let instant = press.map { press in
        press < now - TimerLimits.pressAgeMax
          ? press : max(press, timerTable.latest(id)?.runChangedAt ?? press)
      }
      let change = TimerChange(.finish(resetTime: false), at: instant)
      do { proposals.append(try timerTable.proposal(change, for: id, at: now)) } catch {
        throw Postponed(
          error: ErrorReply(error, timer: id), timer: id, ticket: timerTable.ticket(of: id))
      }
    }
    // A named one that found nothing is remembered too: sent again it must not end what has begun since.
    guard !proposals.isEmpty || named != nil else {
      // The answer depends on changes that may not be durable yet, so it waits for them.
      if let ticket = timerTable.pending.last {
        timerTable.pending.wait(
          Waiter(request: request, answer: .nothingFinished), for: ticket)
      } else {
        reply(.accepted(request.message.tag, .timers([])), to: request.requester, &turn)
      }
      return
    }
    let ticket = apply(proposals, named: named, &turn)
    timerTable.pending.wait(
      Waiter(request: request, answer: .changedTimers, key: named?.key), for: ticket)
    if let named { idempotencyCache.record(named, .pending(ticket), at: turn.now) }
  }

  // MARK: The same request again

  /// Answers a change that was made under this name before; false when there was none.
  private mutating func answerRepeated(
    _ request: ChangeRequest, _ named: IdempotentRequest?, _ turn: inout Turn
  ) throws(Postponed) -> Bool {
    guard let named, let entry = idempotencyCache.entry(named.key, at: turn.now) else {
      return false
    }
    guard entry.matches(named) else {
      throw Postponed(
        error: ErrorReply(
          .badRequest, "this \"requestId\" was used for another request; use a new one"))
    }
    let (message, requester) = (request.message, request.requester)
    let scope = request.caller.grant.scope
    switch entry.state {
    case .pending(let ticket):
      timerTable.pending.wait(
        Waiter(request: request, answer: message.answer, scope: scope), for: ticket)
    case .made(let outcome):
      reply(.accepted(message.tag, outcome.within(scope)), to: requester, &turn)
    case .restored(let revisions, let removed):
      let outcome = restoredOutcome(of: message, revisions, removed: removed, at: turn.now)
      reply(.accepted(message.tag, outcome.within(scope)), to: requester, &turn)
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
