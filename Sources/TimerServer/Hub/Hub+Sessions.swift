import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The life of a connection: its handshake, its requests and its replies in order.
extension Hub {
  mutating func open(
    _ connection: ConnectionID, _ handshake: Handshake, _ turn: inout Turn
  ) {
    counters.connectionsOpened += 1
    let peer = Peer(address: handshake.peerAddress, network: handshake.peerNetwork)
    guard handshakeBudgets.consume(for: peer.network, cost: RequestCost.handshake, at: turn.now)
    else {
      return rejectHandshake(connection, &turn)
    }
    let grant: Grant
    do {
      let credentials = Credentials(handshake)
      grant = try self.grant(credentials, from: peer, &turn)
    } catch {
      if error.code == .rateLimited { return rejectHandshake(connection, &turn) }
      return rejectToken(connection, error, &turn)
    }
    if let token = grant.token {
      turn.actions.log(
        .debug,
        "connection \(connection.number) from \(handshake.peerAddress) has token \(token.name)")
    }
    let session = Session(
      id: connection, address: handshake.peerAddress, network: handshake.peerNetwork, grant: grant,
      budget: RequestBudget(options.requests, at: turn.now))
    sessions[connection] = session
    sendHello(connection, grant.role, &turn)
    turn.actions.transport.append(.join(connection, Self.everyone))
    subscribe(session, handshake.query, &turn)
  }

  /// Closes a connection of an address that has made too many, before it costs anything.
  private mutating func rejectHandshake(_ connection: ConnectionID, _ turn: inout Turn) {
    let why = CloseReason.handshakes
    counters.closedConnections[why, default: 0] += 1
    turn.actions.refusals.append(.handshakeRate)
    turn.actions.transport.append(.close(connection, why.code, reason: why.reason))
  }

  /// Subscribes as the URL asks.
  private mutating func subscribe(
    _ session: Session, _ query: [QueryItem], _ turn: inout Turn
  ) {
    do {
      guard let subscription = try SubscriptionQuery(query)?.subscription else { return }
      let cost = cost(of: subscription.request, in: session.grant.scope, on: session)
      charge(cost, to: session, isFullSet: true, at: turn.now)
      _ = session.replies.append(.initialSubscription(subscription, session.grant))
      flush(session, &turn)
    } catch {
      count(error.code, &turn)
      turn.actions.send(ServerMessage.refused(.none, error, timer: nil).text, to: session.id)
    }
  }

  mutating func close(_ connection: ConnectionID) {
    guard let session = sessions.removeValue(forKey: connection) else { return }
    pausedConnections.remove(connection)
    // The transport has taken it out of its groups already.
    for channel in session.channels { leave(channel) }
  }

  mutating func receive(
    _ text: [UInt8], from connection: ConnectionID, _ turn: inout Turn
  ) {
    guard let session = sessions[connection] else { return }
    let refusal = refusal(of: session, cost: RequestCost.reading(text.count), at: turn.now)
    counters.messagesReceived += 1
    let message = Result { () throws(MalformedMessage) in try ClientMessage(text) }
    if let refusal {
      turn.actions.refusals.append(refusal.reason)
      rejectRateLimited(message, refusal.error, from: session)
    } else {
      process(message, from: session, &turn)
    }
    flush(session, &turn)
    pauseReading(session, &turn)
    if refusal?.isExhausted == true { disconnect(connection, .rate, &turn) }
    if session.wrongTokens >= Self.wrongTokensMax {
      disconnect(connection, .token, &turn)
    }
  }

  private static let wrongTokensMax = 5

  /// Puts into the queue of replies what becomes of a message.
  private mutating func process(
    _ message: Result<ClientMessage, MalformedMessage>, from session: Session, _ turn: inout Turn
  ) {
    switch message {
    case .failure(let malformed):
      counters.refusals[malformed.error.code, default: 0] += 1
      _ = session.replies.append(.malformed(malformed, session.grant))
    case .success(let message):
      let cost = cost(of: message.request, in: session.grant.scope, on: session)
      charge(cost, to: session, isFullSet: message.request.isSubscription, at: turn.now)
      if message.request.isChange {
        let requester = Requester.connection(session.id, place: session.replies.append(.awaited))
        change(message, by: requester, session.caller, &turn)
      } else if case .authenticate(let secret) = message.request {
        // At once, and not in order of the replies: later requests on this connection depend on it.
        let answer = authenticate(session, secret, message.tag, &turn)
        _ = session.replies.append(.ready(answer))
      } else {
        _ = session.replies.append(.deferred(message, receivedAt: turn.now, session.grant))
      }
    }
  }

  private mutating func rejectRateLimited(
    _ message: Result<ClientMessage, MalformedMessage>, _ error: ErrorReply, from session: Session
  ) {
    counters.refusals[.rateLimited, default: 0] += 1
    let tag: ReplyTag
    switch message {
    case .success(let message): tag = message.tag
    case .failure(let malformed): tag = malformed.tag
    }
    _ = session.replies.append(.ready(.refused(tag, error, timer: nil)))
  }

  // MARK: Holding back

  /// Pauses reading from a connection that waits for many replies, or for a disk that is far behind.
  private mutating func pauseReading(_ session: Session, _ turn: inout Turn) {
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

  // MARK: Replies

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
    let state = isHidden ? nil : timer.flatMap { reading($0, at: turn.now) }
    reply(.refused(tag, error, timer: state), to: requester, &turn)
  }

  mutating func flush(_ requester: Requester, _ turn: inout Turn) {
    guard case .connection(let connection, _) = requester, let session = sessions[connection]
    else { return }
    flush(session, &turn)
  }

  /// Sends the next replies of a connection, up to the first that waits for the disk or for the queue.
  mutating func flush(_ session: Session, _ turn: inout Turn) {
    while !session.isReplyQueued, let entry = session.replies.first {
      if case .awaited = entry { return }
      guard beginOrQueue(entry, of: session, at: turn.now) else {
        session.isReplyQueued = true
        return
      }
      answerFirst(session, &turn)
    }
  }

  private mutating func beginOrQueue(
    _ entry: ReplyQueue.Entry, of session: Session, at now: Instant
  ) -> Bool {
    let cost = cost(of: entry, on: session)
    if session.hasQueuedJob { return cost <= RequestCost.cheapMax }
    let begins = beginOrQueue(cost, at: now, or: .reply(session.id), of: session.payer)
    if !begins { session.hasQueuedJob = true }
    return begins
  }

  /// The expected cost of the first reply.
  private func cost(of entry: ReplyQueue.Entry, on session: Session) -> Int {
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
    var expected = cost(of: entry, on: session)
    if case .ready(let message) = entry { expected = message.costCharged }
    let sentBefore = turn.actions.sentBytes
    answer(entry, on: session, &turn)
    let cost = RequestCost.writing(turn.actions.sentBytes - sentBefore)
    if cost > expected { charge(cost - expected, to: session, at: turn.now) }
    spend(max(cost, expected), at: turn.now)
    return true
  }

  private mutating func answer(
    _ entry: ReplyQueue.Entry, on session: Session, _ turn: inout Turn
  ) {
    switch entry {
    case .awaited: return
    case .ready(let message): turn.actions.send(message.text, to: session.id)
    case .deferred(let message, let receivedAt, let grant):
      answer(message, receivedAt: receivedAt, as: grant, on: session, &turn)
    case .initialSubscription(let subscription, let grant):
      do {
        try subscribe(session, subscription, as: grant, &turn) { _, _ in }
      } catch {
        count(error.code, &turn)
        turn.actions.send(ServerMessage.refused(.none, error, timer: nil).text, to: session.id)
      }
    case .malformed(let malformed, let grant):
      let timer = malformed.timer.flatMap { grant.shows($0) ? reading($0, at: turn.now) : nil }
      let refusal = ServerMessage.refused(malformed.tag, malformed.error, timer: timer)
      turn.actions.send(refusal.text, to: session.id)
    }
  }

  /// Answers what changes nothing.
  private mutating func answer(
    _ message: ClientMessage, receivedAt: Instant, as grant: Grant, on session: Session,
    _ turn: inout Turn
  ) {
    let tag = message.tag
    do throws(ErrorReply) {
      switch message.request {
      case .subscribe(let selection, let interval, let since, let inParts):
        let subscription = Subscription(
          selection, interval: interval, since: since, inParts: inParts)
        try subscribe(session, subscription, as: grant, &turn) { outcome, turn in
          turn.actions.send(ServerMessage.accepted(tag, outcome).text, to: session.id)
        }
      case .unsubscribe(let selection):
        try grant.check(message.request)
        let published = timerTable.publishedRevision
        resubscribe(session, selection, &turn) {
          $0.unsubscribe(selection, at: published)
        }
        turn.actions.send(ServerMessage.accepted(tag, .done).text, to: session.id)
      default:
        let outcome = try outcome(
          of: message.request, as: grant, receivedAt: receivedAt, at: turn.now)
        turn.actions.send(ServerMessage.accepted(tag, outcome).text, to: session.id)
      }
    } catch {
      count(error.code, &turn)
      turn.actions.send(ServerMessage.refused(tag, error, timer: nil).text, to: session.id)
    }
  }

  /// The result of a request that changes nothing, by WebSocket or HTTP.
  func outcome(
    of request: ClientRequest, as grant: Grant, receivedAt: Instant, at now: Instant
  ) throws(ErrorReply) -> Outcome {
    try grant.check(request)
    switch request {
    case .get(let id):
      guard let timer = reading(id, at: now) else { throw ErrorReply(.unknownTimer, timer: id) }
      return .timer(timer)
    case .list: return .timers(shown(.all, to: grant, at: now))
    case .listPage(let page): return self.page(page, for: grant, at: now)
    case .sync(let clientTime):
      return .synced(clientTime: clientTime, receivedAt: receivedAt, sentAt: now)
    case .authenticate, .subscribe, .unsubscribe, .change, .finishAll:
      throw ErrorReply(.badRequest, "this command needs a WebSocket; connect to /ws")
    }
  }

  // MARK: Subscriptions

  /// Subscribes a connection, after `confirm` has sent the reply, and sends the full set at once.
  ///
  /// `grant` is what the connection was allowed at the time of its request. If it has authenticated since, the
  /// subscription is reduced to its present grant, as if it had authenticated after subscribing.
  private mutating func subscribe(
    _ session: Session, _ subscription: Subscription, as grant: Grant, _ turn: inout Turn,
    confirm: (Outcome, inout Turn) -> Void
  ) throws(ErrorReply) {
    let selection = subscription.selection
    try grant.check(.subscribe(selection, interval: subscription.interval))
    guard session.subscriptionCount(with: selection) <= options.subscriptionsMax else {
      throw ErrorReply(
        .tooManySubscriptions,
        "a connection has at most \(options.subscriptionsMax) subscriptions; \"*\" is one for all")
    }
    let interval = subscription.effectiveInterval
    try checkTicks(of: session, selection, every: interval)
    confirm(
      interval == subscription.interval ? .done : .subscribed(interval: interval), &turn)
    let timers = shown(selection, to: grant, at: turn.now)
    if subscription.inParts {
      turn.actions.send(Frame(ServerMessage.parts(of: .subscribed, timers)), to: session.id)
    } else {
      turn.actions.send(ServerMessage.snapshot(.subscribed, timers).text, to: session.id)
    }
    let published = timerTable.publishedRevision
    // Ends that this connection has received already are not sent again.
    let missed = missedEnds(subscription, of: session, as: grant, at: turn.now)
    resubscribe(session, selection, &turn) {
      $0.subscribe(selection, interval: interval, inParts: subscription.inParts)
      if $0.grant != grant { $0.accept($0.grant, at: published) }
    }
    // As one, since no newer one takes the place of any: of thousands each would count for what may wait.
    var replay: [[UInt8]] = []
    for (id, ends) in missed where session.isSubscribed(to: id) {
      if subscription.since == nil, !session.sentEnds.insert(id).inserted { continue }
      replay += texts(of: ends, of: id, &turn)
    }
    if !replay.isEmpty { turn.actions.send(Frame(replay), to: session.id) }
  }

  /// Refuses ticks of single timers above the limit of a token, or of an address' visitors. Channels can be shared, but
  /// at an interval that no other subscriber has each one is work of its own.
  private func checkTicks(
    of session: Session, _ selection: TimerSelection, every interval: Seconds
  ) throws(ErrorReply) {
    guard case .timers(let ids) = selection, interval > .zero else { return }
    let change = session.tickChannels(of: Set(ids), at: interval)
    let rate = channels.tickRate(of: session.payer, opening: change.opened, closing: change.closed)
    guard rate > options.ticksMax * 1_000_000 else { return }
    throw ErrorReply(
      .tooManySubscriptions,
      "these ticks would be more than \(options.ticksMax) a second of your address or token, over all connections; "
        + "take a longer interval, one that others have, such as 0.1 or 1, or \"*\" for all timers")
  }

  /// The ends that a new subscription has to send, by timers: those after the point that the client gives, or, without
  /// one, those that no subscriber has received.
  private func missedEnds(
    _ subscription: Subscription, of session: Session, as grant: Grant, at now: Instant
  ) -> [(id: TimerID, ends: [Instant])] {
    let published = timerTable.publishedRevision
    var selection = subscription.selection
    // For a scope of few timers, only those are searched.
    if case .all = selection, case .matching = grant.scope {
      selection = .timers(timerTable.durableTimers(in: grant.scope).map(\.id))
    }
    guard let since = subscription.since else {
      return lateEnds.among(selection, at: now).filter {
        session.deliveredRevision(of: $0.id, published: published) == nil
      }
    }
    guard since.history == history, since.revision <= published else { return [] }
    let ids =
      switch selection {
      case .all: timerTable.idsWithEnds(after: since.revision)
      case .timers(let ids): Set(ids).sorted()
      }
    return ids.compactMap { id in
      let known = session.deliveredRevision(of: id, published: published) ?? since.revision
      let ends = timerTable.ends(id, after: max(known, since.revision)).map(\.at)
      return ends.isEmpty ? nil : (id, ends)
    }
  }

  private func page(_ page: ListPage, for grant: Grant, at now: Instant) -> Outcome {
    var timers: [TimerReading] = []
    guard grant.role >= .view else { return .page([], next: nil) }
    for timer in timerTable.durableTimers(in: grant.scope, after: page.after) {
      if timers.count == page.limit { return .page(timers, next: timers.last?.timer.id) }
      timers.append(TimerReading(timer, at: now))
    }
    return .page(timers, next: nil)
  }

  private func shown(
    _ selection: TimerSelection, to grant: Grant, at now: Instant
  ) -> [TimerReading] {
    switch selection {
    case .all:
      grant.role < .view
        ? [] : timerTable.durableTimers(in: grant.scope).map { TimerReading($0, at: now) }
    case .timers(let ids): Set(ids).sorted().compactMap { reading($0, at: now) }
    }
  }

  /// Changes a session's subscriptions to these timers, and joins and leaves what comes of it.
  mutating func resubscribe(
    _ session: Session, _ selection: TimerSelection, _ turn: inout Turn, change: (Session) -> Void
  ) {
    let before = session.channels(touchedBy: selection)
    change(session)
    let after = session.channels(touchedBy: selection)
    for channel in before.subtracting(after) {
      if let group = leave(channel) { turn.actions.transport.append(.leave(session.id, group)) }
    }
    for channel in after.subtracting(before) {
      let isNew = channels.group(channel) == nil
      turn.actions.transport.append(.join(session.id, channels.join(channel, of: session.payer)))
      if isNew { schedule(channel, at: turn.now) }
    }
  }

  @discardableResult
  private mutating func leave(_ channel: Channel) -> GroupID? {
    let group = channels.leave(channel)
    if let group, channels.group(channel) == nil { deadlines.remove(.tick(group)) }
    return group
  }

  /// The messages for missed ends.
  private mutating func texts(
    of ends: [Instant], of id: TimerID, _ turn: inout Turn
  ) -> [[UInt8]] {
    guard let timer = reading(id, at: turn.now) else { return [] }
    markDelivered(id, &turn)
    let causes = [.restored] + ends.map { SnapshotCause.ended(at: $0, late: true) }
    return causes.map { ServerMessage.snapshot($0, [timer]).text }
  }
}

extension Subscription {
  /// The same as a request.
  fileprivate var request: ClientRequest {
    .subscribe(selection, interval: interval, since: since, inParts: inParts)
  }
}

extension ServerMessage {
  /// The part of its cost that was charged in advance: for a change of all timers, that of the request.
  fileprivate var costCharged: Int {
    guard case .accepted(_, .timers(let readings)) = self else { return 0 }
    return RequestCost.states(readings.count)
  }
}

extension ClientRequest {
  fileprivate var isSubscription: Bool {
    if case .subscribe = self { true } else { false }
  }
}
