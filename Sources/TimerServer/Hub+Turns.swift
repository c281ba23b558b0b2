import TimerCore
import TimerProtocol
import WebSocketTransport

/// What requests cost, who pays for it, and whose turn it is to have something costly done.
extension Hub {
  /// Something costly that waits for its turn.
  enum Job {
    /// The first reply that a connection is owed.
    case reply(ConnectionID)
    case command(ClientMessage, HTTPRequest, Grant, RequestID)
    case picture(QRText, RequestID)
  }

  // MARK: Budgets

  /// Counts a message of a connection, before it is read; nil when it may be taken, else why not.
  mutating func refusal(
    of session: Session, cost: Int, at now: Instant
  ) -> (error: ErrorReply, reason: RefusalReason, isExhausted: Bool)? {
    let verdict = session.budget.take(cost: cost, at: now)
    guard verdict == .granted else { return (tooHasty, .hasteOfConnection, verdict == .exhausted) }
    if session.welcome.takes(cost) || payers.take(for: session.payer, cost: cost, at: now) {
      return nil
    }
    // Counted twice: whoever shares in too much is sent away in the end, and who came along is not.
    let isExhausted = session.budget.refuse(cost: 2 * cost) == .exhausted
    return (tooHastyTogether, .hasteTogether, isExhausted)
  }

  /// Counts what a request costs beside being read.
  mutating func charge(_ cost: Int, to session: Session, isFullSet: Bool = false, at now: Instant) {
    session.budget.charge(cost, at: now)
    if isFullSet, session.welcome.takesFullSet() { return }
    payers.charge(cost, to: session.payer, at: now)
  }

  var tooHasty: ErrorReply {
    ErrorReply(
      .rateLimited,
      "more than \(options.requests.perSecond) requests a second; wait a second, and send fewer")
  }

  var tooHastyTogether: ErrorReply {
    ErrorReply(
      .rateLimited,
      "more than \(options.sharedRequests.perSecond) requests a second from your address or token, over all connections; "
        + "wait a second, and send fewer")
  }

  /// What a request is expected to cost beside being read, of somebody who sees a scope.
  func cost(
    of request: ClientRequest, in scope: TimerScope, on session: Session? = nil
  ) -> Int {
    let seeking = RequestCost.seeking(scope)
    return switch request {
    case .list: seeking + RequestCost.states(board.durableCount(in: scope))
    // Its single timers are heard with all from here on, or at other intervals.
    case .subscribe(.all, _, _, _):
      seeking + RequestCost.states(board.durableCount(in: scope))
        + RequestCost.channels(session?.subscriptionCount ?? 0)
    case .listPage(let page):
      seeking + RequestCost.states(min(page.limit, board.durableCount(in: scope)))
    // Each name is looked up, joined and shown.
    case .subscribe(.timers(let ids), _, _, _): 2 * RequestCost.states(ids.count)
    case .unsubscribe(.timers(let ids)): RequestCost.states(ids.count)
    case .unsubscribe(.all): RequestCost.states(session?.subscriptionCount ?? 0)
    case .finishAll: RequestCost.states(board.latestCount)
    case .get, .sync, .authenticate, .change: 0
    }
  }

  // MARK: Turns

  /// Whether something of this cost may be done now; else it waits, and is done in its turn.
  mutating func mayBegin(
    _ cost: Int, at now: Instant, or job: Job, of payer: Payer
  ) -> Bool {
    guard cost > RequestCost.cheapMax, !turns.isFree(at: now) else { return true }
    turns.append(job, of: payer)
    deadlines.set(.turn, turns.next)
    return false
  }

  /// Counts work that was done, so that what is costly next waits for it.
  mutating func spend(_ cost: Int, at now: Instant) {
    if cost > RequestCost.cheapMax { turns.spend(RequestCost.length(cost), at: now) }
  }

  /// Does what waits, for a few milliseconds at most.
  mutating func takeTurns(at now: Instant, _ actions: inout HubActions) {
    while let job = turns.takeNext(at: now) {
      switch job {
      case .reply(let connection):
        guard let session = sessions[connection] else { continue }
        session.awaitsTurn = false
        answerFirst(session, at: now, &actions)
        flush(session, at: now, &actions)
      case .command(let message, let request, let grant, let id):
        look(message, request, grant, id, at: now, &actions)
      case .picture(let text, let id): draw(text, id, at: now, &actions)
      }
    }
    deadlines.set(.turn, turns.next)
    readOn(&actions)
  }
}
