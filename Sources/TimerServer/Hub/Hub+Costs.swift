import TimerCore
import TimerProtocol
import WebSocketTransport

/// The costs of requests, their payers, and the turns of costly work.
extension Hub {
  // MARK: Budgets

  /// Counts a message of a connection, before it is read; nil when it may be taken, else why not.
  mutating func refusal(
    of session: Session, cost: Int, at now: Instant
  ) -> (error: ErrorReply, reason: RefusalReason, isExhausted: Bool)? {
    let verdict = session.budget.consume(cost: cost, at: now)
    guard verdict == .granted else {
      return (connectionRateExceeded, .connectionRate, verdict == .exhausted)
    }
    if session.initialAllowance.spend(cost)
      || payers.consume(for: session.payer, cost: cost, at: now)
    {
      return nil
    }
    // The cost counts twice, so that a connection that causes the overload is closed in the end, and one that merely
    // shares its budget is not.
    let isExhausted = session.budget.refuse(cost: 2 * cost) == .exhausted
    return (sharedRateExceeded, .sharedRate, isExhausted)
  }

  /// Counts what a request costs beside being read.
  mutating func charge(_ cost: Int, to session: Session, isFullSet: Bool = false, at now: Instant) {
    session.budget.charge(cost, at: now)
    if isFullSet, session.initialAllowance.spendFullSet() { return }
    payers.charge(cost, to: session.payer, at: now)
  }

  /// Counts what a request by HTTP costs beside being read.
  mutating func charge(
    _ cost: Int, _ request: HTTPRequest, _ grant: Grant, at now: Instant
  ) {
    httpBudgets.charge(cost, to: request.peerNetwork, at: now)
    payers.charge(cost, to: Payer(grant, request), at: now)
  }

  var connectionRateExceeded: ErrorReply {
    ErrorReply(
      .rateLimited,
      "more than \(options.requests.perSecond) requests a second; wait a second, and send fewer")
  }

  var sharedRateExceeded: ErrorReply {
    ErrorReply(
      .rateLimited,
      "more than \(options.sharedRequests.perSecond) requests a second from your address or token, "
        + "over all connections; wait a second, and send fewer")
  }

  /// The expected cost of a request beside reading it, for a sender with this scope.
  func cost(
    of request: ClientRequest, in scope: TimerScope, on session: Session? = nil
  ) -> Int {
    switch request {
    case .list: costOfStates(in: scope)
    // Its single timers move to the channels of all timers, or to other intervals.
    case .subscribe(.all, _, _, _):
      costOfStates(in: scope) + RequestCost.channels(session?.subscriptions.count ?? 0)
    case .listPage(let page): costOfStates(in: scope, atMost: page.limit)
    // Each name is looked up, joined and shown.
    case .subscribe(.timers(let ids), _, _, _): 2 * RequestCost.states(ids.count)
    case .unsubscribe(.timers(let ids)): RequestCost.states(ids.count)
    case .unsubscribe(.all): RequestCost.states(session?.subscriptions.count ?? 0)
    case .finishAll: RequestCost.states(timerTable.latestCount)
    case .get, .sync, .authenticate, .change: 0
    }
  }

  private func costOfStates(in scope: TimerScope, atMost countMax: Int = .max) -> Int {
    let count = min(countMax, timerTable.durableCount(in: scope))
    return RequestCost.seeking(scope) + RequestCost.states(count)
  }

  // MARK: Costly work

  /// Returns true if work of this cost may run now; otherwise queues it.
  mutating func beginOrQueue(
    _ cost: Int, at now: Instant, or job: Job, of payer: Payer
  ) -> Bool {
    guard cost > RequestCost.cheapMax, !workQueue.isFree(at: now) else { return true }
    workQueue.append(job, of: payer)
    deadlines.set(.queuedWork, workQueue.next)
    return false
  }

  /// Counts work that was done, so that what is costly next waits for it.
  mutating func spend(_ cost: Int, at now: Instant) {
    if cost > RequestCost.cheapMax { workQueue.spend(RequestCost.length(cost), at: now) }
  }

  /// True if costly work was done whose duration `endWork` has to report.
  var isMeasuringWork: Bool { workQueue.isMeasuring }

  /// Ends the work of an event and counts its real duration instead of the expected one.
  mutating func endWork(at now: Instant) {
    workQueue.endWork(at: now)
  }
}
