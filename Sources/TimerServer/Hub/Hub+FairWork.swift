import TimerCore
import TimerProtocol
import WebSocketTransport

/// The costs of requests, their payers, and the fair scheduling of costly work.
extension Hub {
  /// Costly work that waits in the queue.
  enum Job {
    /// The first reply that a connection is owed.
    case reply(ConnectionID)
    case command(ClientMessage, HTTPRequest, Grant, HTTPRequestID)
    case picture(QRText, HTTPRequestID)
  }

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
      costOfStates(in: scope) + RequestCost.channels(session?.subscriptionCount ?? 0)
    case .listPage(let page): costOfStates(in: scope, atMost: page.limit)
    // Each name is looked up, joined and shown.
    case .subscribe(.timers(let ids), _, _, _): 2 * RequestCost.states(ids.count)
    case .unsubscribe(.timers(let ids)): RequestCost.states(ids.count)
    case .unsubscribe(.all): RequestCost.states(session?.subscriptionCount ?? 0)
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

  /// Does what waits, for a few milliseconds at most.
  mutating func runQueuedWork(_ turn: inout Turn) {
    var jobsLeft = Self.jobsAtOnce
    while jobsLeft > 0, let job = workQueue.popNext(at: turn.now) {
      jobsLeft -= 1
      switch job {
      case .reply(let connection): resumeReplies(to: connection, &turn)
      case .command(let message, let request, let grant, let id):
        answerQuery(message, request, grant, id, &turn)
      case .picture(let text, let id): answerQRCode(text, id, &turn)
      }
    }
    // Other deadlines run before the rest.
    deadlines.set(.queuedWork, workQueue.next.map { max($0, turn.now + Seconds(microseconds: 1)) })
    resumeReading(&turn)
  }

  /// The limit is high, since jobs of closed or answered connections take almost no time.
  private static let jobsAtOnce = 64

  private mutating func resumeReplies(
    to connection: ConnectionID, _ turn: inout Turn
  ) {
    guard let session = sessions[connection] else { return }
    session.hasQueuedJob = false
    guard session.isReplyQueued else { return }
    session.isReplyQueued = false
    answerFirst(session, &turn)
    flush(session, &turn)
  }

  // MARK: Work before its time

  /// Sends the replies up to that of a change that is about to be broadcast, so that its requester gets the reply
  /// first. Earlier requests are answered ahead of the queue for that. The connection's budget limits how much work
  /// this is, and it delays all other costly work.
  mutating func answerAhead(
    _ requester: Requester, _ turn: inout Turn
  ) {
    guard case .connection(let connection, let place) = requester,
      let session = sessions[connection], session.isReplyQueued
    else { return }
    session.isReplyQueued = false
    while session.replies.holds(place), answerFirst(session, &turn) {}
  }

  /// Refuses queued requests of a connection that is being closed, so that replies that are ready behind them are sent.
  mutating func refuseQueuedReplies(_ session: Session, _ turn: inout Turn) {
    guard session.isReplyQueued else { return }
    while let entry = session.replies.popFirst() {
      let answer: ServerMessage
      switch entry {
      case .awaited: return
      case .ready(let message): answer = message
      case .malformed(let malformed, _):
        answer = .refused(malformed.tag, malformed.error, timer: nil)
      case .deferred(let message, _, _):
        count(Self.closedBeforeAnswer.code, &turn)
        answer = .refused(message.tag, Self.closedBeforeAnswer, timer: nil)
      case .initialSubscription:
        count(Self.closedBeforeAnswer.code, &turn)
        answer = .refused(.none, Self.closedBeforeAnswer, timer: nil)
      }
      turn.actions.send(answer.text, to: session.id)
    }
  }

  /// The server stops: no costly work is begun any more.
  mutating func refuseQueuedWork(_ turn: inout Turn) {
    for job in workQueue.removeAll() {
      switch job {
      case .reply(let connection):
        guard let session = sessions[connection] else { continue }
        refuseQueuedReplies(session, &turn)
        session.isReplyQueued = false
        session.hasQueuedJob = false
      case .command(let message, _, _, let id):
        count(Self.closedBeforeAnswer.code, &turn)
        respond(.refused(message.tag, Self.closedBeforeAnswer, timer: nil), to: id, &turn)
      case .picture(_, let id):
        count(Self.closedBeforeAnswer.code, &turn)
        respond(.refused(.none, Self.closedBeforeAnswer, timer: nil), to: id, &turn)
      }
    }
    deadlines.remove(.queuedWork)
  }

  private static let closedBeforeAnswer = ErrorReply(
    .shuttingDown,
    "the connection closed before this request was handled; reconnect and repeat it")
}
