import TimerCore
import TimerProtocol
import WebSocketTransport

/// Replies: on a connection in the order of its requests, each when what it depends on is durable.
extension Hub {
  /// Delivers a reply to its requester; on a connection only when it is the next one.
  mutating func reply(
    _ message: ServerMessage, to requester: Requester, _ turn: inout Turn
  ) {
    switch requester {
    case .http(let id, let payer, let network):
      let cost = RequestCost.writing(respond(message, to: id, &turn)) - message.costCharged
      httpBudgets.charge(cost, to: network, at: turn.now)
      payers.charge(cost, to: payer, at: turn.now)
    case .connection(let connection, let place):
      guard let session = sessions[connection] else { return }
      session.replies.resolve(place, message)
      while session.replies.isFirstReady, answerFirst(session, &turn) {}
    }
  }

  mutating func refuse(
    _ tag: ReplyTag, _ error: ErrorReply, timer: TimerID?, to requester: Requester,
    _ turn: inout Turn
  ) {
    count(error.code, &turn)
    // A sender that may not see a timer must not see its state beside an error either.
    let isHidden = error.code == .forbidden || error.code == .unauthorized
    let state = isHidden ? nil : timer.flatMap { timerTable.reading($0, at: turn.now) }
    reply(.refused(tag, error, timer: state), to: requester, &turn)
  }

  mutating func flush(_ requester: Requester, _ turn: inout Turn) {
    guard case .connection(let connection, _) = requester, let session = sessions[connection]
    else { return }
    flush(session, &turn)
  }

  /// Sends the next replies of a connection, up to the first that waits for the disk or for the queue.
  mutating func flush(_ session: Session, _ turn: inout Turn) {
    while !session.replies.waitsForTurn, let entry = session.replies.first {
      if case .awaited = entry { return }
      guard mayBegin(entry, of: session, at: turn.now) else {
        session.replies.waitsForTurn = true
        return
      }
      answerFirst(session, &turn)
    }
  }

  /// Returns whether the first reply may be sent now; otherwise a costly one waits for its turn.
  private mutating func mayBegin(
    _ entry: ReplyQueue.Entry, of session: Session, at now: Instant
  ) -> Bool {
    let cost = expectedCost(of: entry, on: session)
    if session.replies.hasJob { return cost <= RequestCost.cheapMax }
    let begins = beginOrQueue(cost, at: now, or: .reply(session.id), of: session.payer)
    if !begins { session.replies.hasJob = true }
    return begins
  }

  /// The expected cost of the first reply.
  private func expectedCost(of entry: ReplyQueue.Entry, on session: Session) -> Int {
    switch entry {
    case .deferred(let message, _, let grant):
      cost(of: message.request, in: grant.scope, on: session)
    case .initialSubscription(let subscription, let grant):
      cost(of: subscription.request, in: grant.scope, on: session)
    case .awaited, .ready, .malformed: 0
    }
  }

  /// Sends the first reply that a connection is owed, and counts what it came to; false when it waits for the disk.
  @discardableResult
  mutating func answerFirst(
    _ session: Session, _ turn: inout Turn
  ) -> Bool {
    guard let entry = session.replies.popFirst() else { return false }
    var expected = expectedCost(of: entry, on: session)
    if case .ready(let message) = entry { expected = message.costCharged }
    let sentBefore = turn.actions.sentBytes
    send(entry, to: session, &turn)
    let cost = RequestCost.writing(turn.actions.sentBytes - sentBefore)
    if cost > expected { charge(cost - expected, to: session, at: turn.now) }
    spend(max(cost, expected), at: turn.now)
    return true
  }

  private mutating func send(
    _ entry: ReplyQueue.Entry, to session: Session, _ turn: inout Turn
  ) {
    switch entry {
    case .awaited: return
    case .ready(let message): turn.actions.send(message.text, to: session.id)
    case .deferred(let message, let receivedAt, let grant):
      sendAnswer(to: message, receivedAt: receivedAt, as: grant, on: session, &turn)
    case .initialSubscription(let subscription, let grant):
      do {
        try subscribe(session, subscription, as: grant, replyingTo: nil, &turn)
      } catch {
        count(error.code, &turn)
        turn.actions.send(ServerMessage.refused(.none, error, timer: nil).text, to: session.id)
      }
    case .malformed(let malformed, let grant):
      let timer = malformed.timer.flatMap {
        grant.shows($0) ? timerTable.reading($0, at: turn.now) : nil
      }
      let refusal = ServerMessage.refused(malformed.tag, malformed.error, timer: timer)
      turn.actions.send(refusal.text, to: session.id)
    }
  }

  /// Answers what changes nothing.
  private mutating func sendAnswer(
    to message: ClientMessage, receivedAt: Instant, as grant: Grant, on session: Session,
    _ turn: inout Turn
  ) {
    let tag = message.tag
    do throws(ErrorReply) {
      switch message.request {
      case .subscribe(let selection, let interval, let since, let inParts):
        let subscription = Subscription(
          selection, interval: interval, since: since, inParts: inParts)
        try subscribe(session, subscription, as: grant, replyingTo: tag, &turn)
      case .unsubscribe(let selection):
        try grant.check(message.request)
        let published = timerTable.publishedRevision
        resubscribe(session, selection, &turn) {
          $0.subscriptions.remove(selection, at: published)
        }
        turn.actions.send(ServerMessage.accepted(tag, .done).text, to: session.id)
      default:
        let outcome = try timerTable.outcome(
          of: message.request, as: grant, receivedAt: receivedAt, at: turn.now)
        turn.actions.send(ServerMessage.accepted(tag, outcome).text, to: session.id)
      }
    } catch {
      count(error.code, &turn)
      turn.actions.send(ServerMessage.refused(tag, error, timer: nil).text, to: session.id)
    }
  }

  // MARK: Ahead of the queue

  /// Sends the replies up to that of a change that is about to be broadcast, so that its requester gets the reply
  /// first. Earlier requests are answered ahead of the queue for that. The connection's budget limits how much work
  /// this is, and it delays all other costly work.
  mutating func answerAhead(
    _ requester: Requester, _ turn: inout Turn
  ) {
    guard case .connection(let connection, let place) = requester,
      let session = sessions[connection], session.replies.waitsForTurn
    else { return }
    session.replies.waitsForTurn = false
    while session.replies.holds(place), answerFirst(session, &turn) {}
  }

  /// Refuses queued requests of a connection that is being closed, so that replies that are ready behind them are sent.
  mutating func refuseQueuedReplies(_ session: Session, _ turn: inout Turn) {
    guard session.replies.waitsForTurn else { return }
    while let entry = session.replies.popFirst() {
      let answer: ServerMessage
      switch entry {
      case .awaited: return
      case .ready(let message): answer = message
      case .malformed(let malformed, _):
        answer = .refused(malformed.tag, malformed.error, timer: nil)
      case .deferred(let message, _, _):
        count(ErrorReply.closedBeforeAnswer.code, &turn)
        answer = .refused(message.tag, .closedBeforeAnswer, timer: nil)
      case .initialSubscription:
        count(ErrorReply.closedBeforeAnswer.code, &turn)
        answer = .refused(.none, .closedBeforeAnswer, timer: nil)
      }
      turn.actions.send(answer.text, to: session.id)
    }
  }

  /// Sends the replies of a connection whose turn it is.
  mutating func resumeReplies(
    to connection: ConnectionID, _ turn: inout Turn
  ) {
    guard let session = sessions[connection] else { return }
    session.replies.hasJob = false
    guard session.replies.waitsForTurn else { return }
    session.replies.waitsForTurn = false
    answerFirst(session, &turn)
    flush(session, &turn)
  }

  // MARK: Pausing

  /// Pauses reading from a connection that waits for many replies, or for a disk that is far behind.
  mutating func pauseReading(_ session: Session, _ turn: inout Turn) {
    guard !session.replies.isEmpty,
      session.replies.count >= options.repliesMax || timerTable.pendingCount >= options.pendingMax,
      pausedConnections.insert(session.id).inserted
    else { return }
    counters.readingPauses += 1
    turn.actions.transport.append(.pauseReading(session.id))
  }

  /// Resumes reading from connections that have received half of their replies. Each reply waits for the disk or for
  /// the queue, so no connection is missed.
  mutating func resumeReading(_ turn: inout Turn) {
    guard !pausedConnections.isEmpty, timerTable.pendingCount <= options.pendingMax / 2 else {
      return
    }
    let ready = pausedConnections.filter {
      (sessions[$0]?.replies.count ?? 0) <= options.repliesMax / 2
    }
    pausedConnections.subtract(ready)
    for connection in ready.sorted(by: { $0.number < $1.number }) {
      turn.actions.transport.append(.resumeReading(connection))
    }
  }
}

extension ErrorReply {
  /// For requests that a closing connection or a stopping server leaves unanswered.
  static let closedBeforeAnswer = ErrorReply(
    .shuttingDown,
    "the connection closed before this request was handled; reconnect and repeat it")
}

extension ServerMessage {
  /// The part of its cost that was charged in advance: for a change of all timers, that of the request.
  fileprivate var costCharged: Int {
    guard case .accepted(_, .timers(let readings)) = self else { return 0 }
    return RequestCost.states(readings.count)
  }
}
