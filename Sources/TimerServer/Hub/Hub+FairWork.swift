import TimerCore
import TimerProtocol
import WebSocketTransport

/// What requests cost, who pays for it, and whose turn it is to have something costly done.
extension Hub {
  /// Something costly that waits for its turn.
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
    // Counted twice: whoever shares in too much is sent away in the end, and who came along is not.
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
      "more than \(options.sharedRequests.perSecond) requests a second from your address or token, over all connections; "
        + "wait a second, and send fewer")
  }

  /// What a request is expected to cost beside being read, of somebody who sees a scope.
  func cost(
    of request: ClientRequest, in scope: TimerScope, on session: Session? = nil
  ) -> Int {
    switch request {
    case .list: costOfStates(in: scope)
    // Its single timers are heard with all from here on, or at other intervals.
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

  // MARK: Turns

  /// Whether something of this cost may be done now; else it waits, and is done in its turn.
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

  /// Whether something costly was done whose length is to be told with `endWork`.
  var isMeasuringWork: Bool { workQueue.isMeasuring }

  /// All that an event led to has been done: what is costly took so long, whatever it was expected to take.
  mutating func endWork(at now: Instant) {
    workQueue.endWork(at: now)
  }

  /// Does what waits, for a few milliseconds at most.
  mutating func runQueuedWork(at now: Instant, _ actions: inout HubActions) {
    var jobsLeft = Self.jobsAtOnce
    while jobsLeft > 0, let job = workQueue.popNext(at: now) {
      jobsLeft -= 1
      switch job {
      case .reply(let connection): resumeReplies(to: connection, at: now, &actions)
      case .command(let message, let request, let grant, let id):
        answerQuery(message, request, grant, id, at: now, &actions)
      case .picture(let text, let id): answerQRCode(text, id, at: now, &actions)
      }
    }
    // Whatever else is due has its turn before the rest.
    deadlines.set(.queuedWork, workQueue.next.map { max($0, now + Seconds(microseconds: 1)) })
    resumeReading(&actions)
  }

  /// So many at once, since those of whoever has gone, or has been answered, take no time that counts.
  private static let jobsAtOnce = 64

  private mutating func resumeReplies(
    to connection: ConnectionID, at now: Instant, _ actions: inout HubActions
  ) {
    guard let session = sessions[connection] else { return }
    session.hasQueuedJob = false
    guard session.isReplyQueued else { return }
    session.isReplyQueued = false
    answerFirst(session, at: now, &actions)
    flush(session, at: now, &actions)
  }

  // MARK: Out of turn

  /// Answers a connection up to the reply to its change, which is about to be told to all: the one who asked gets the
  /// reply first. What stands before is done out of turn then; how much that may be, the connection's budget bounds, and
  /// all others' costly work waits for it.
  mutating func answerAhead(
    _ requester: Requester, at now: Instant, _ actions: inout HubActions
  ) {
    guard case .connection(let connection, let place) = requester,
      let session = sessions[connection], session.isReplyQueued
    else { return }
    session.isReplyQueued = false
    while session.replies.holds(place), answerFirst(session, at: now, &actions) {}
  }

  /// A connection is closed: what waits for its turn is refused, so that what is ready behind it goes out.
  mutating func refuseQueuedReplies(_ session: Session, _ actions: inout HubActions) {
    guard session.isReplyQueued else { return }
    while let entry = session.replies.popFirst() {
      let answer: ServerMessage
      switch entry {
      case .awaited: return
      case .ready(let message): answer = message
      case .malformed(let malformed, _):
        answer = .refused(malformed.tag, malformed.error, timer: nil)
      case .deferred(let message, _, _):
        count(Self.closedBeforeAnswer.code, &actions)
        answer = .refused(message.tag, Self.closedBeforeAnswer, timer: nil)
      case .initialSubscription:
        count(Self.closedBeforeAnswer.code, &actions)
        answer = .refused(.none, Self.closedBeforeAnswer, timer: nil)
      }
      actions.send(answer.text, to: session.id)
    }
  }

  /// The server stops: nothing gets a turn any more.
  mutating func refuseQueuedWork(_ actions: inout HubActions) {
    for job in workQueue.removeAll() {
      switch job {
      case .reply(let connection):
        guard let session = sessions[connection] else { continue }
        refuseQueuedReplies(session, &actions)
        session.isReplyQueued = false
        session.hasQueuedJob = false
      case .command(let message, _, _, let id):
        count(Self.closedBeforeAnswer.code, &actions)
        respond(.refused(message.tag, Self.closedBeforeAnswer, timer: nil), to: id, &actions)
      case .picture(_, let id):
        count(Self.closedBeforeAnswer.code, &actions)
        respond(.refused(.none, Self.closedBeforeAnswer, timer: nil), to: id, &actions)
      }
    }
    deadlines.remove(.queuedWork)
  }

  private static let closedBeforeAnswer = ErrorReply(
    .shuttingDown,
    "the connection is closed before it was this request's turn; connect again and repeat it")
}
