import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// Connections: how they begin, what they ask, how they are answered in order.
extension Hub {
  mutating func open(
    _ connection: ConnectionID, _ handshake: Handshake, at now: Instant,
    _ actions: inout HubActions
  ) {
    counters.connectionsOpened += 1
    let grant: Grant
    do {
      let credentials = Credentials(handshake)
      grant = try self.grant(credentials, from: handshake.peerAddress, at: now, &actions)
    } catch {
      return turnAway(connection, error, at: now, &actions)
    }
    if let token = grant.token {
      actions.log(
        .debug,
        "connection \(connection.number) from \(handshake.peerAddress) has token \(token.name)")
    }
    let session = Session(
      id: connection, address: handshake.peerAddress, network: handshake.peerNetwork, grant: grant,
      budget: RequestBudget(options.requests, at: now))
    sessions[connection] = session
    greet(connection, grant.role, at: now, &actions)
    actions.transport.append(.join(connection, Self.everyone))
    subscribe(session, handshake.query, at: now, &actions)
  }

  /// Subscribes as the URL asks.
  private mutating func subscribe(
    _ session: Session, _ query: [QueryItem], at now: Instant, _ actions: inout HubActions
  ) {
    do {
      guard let wish = try SubscriptionQuery(query) else { return }
      try subscribe(session, wish.subscription, as: session.grant, at: now, &actions) { _ in }
    } catch {
      count(error.code, &actions)
      actions.send(ServerMessage.refused(.none, error, timer: nil).text, to: session.id)
    }
  }

  mutating func close(_ connection: ConnectionID) {
    guard let session = sessions.removeValue(forKey: connection) else { return }
    heldBack.remove(connection)
    // The transport has taken it out of its groups already.
    for channel in session.channels { leave(channel) }
  }

  mutating func receive(
    _ text: [UInt8], from connection: ConnectionID, at now: Instant, _ actions: inout HubActions
  ) {
    guard let session = sessions[connection] else { return }
    let verdict = session.budget.take(at: now)
    counters.messagesReceived += 1
    let message = Result { () throws(MalformedMessage) in try ClientMessage(text) }
    if verdict == .granted {
      take(message, from: session, at: now, &actions)
    } else {
      actions.refusals.append(.hasteOfConnection)
      refuseForHaste(message, from: session)
    }
    flush(session, at: now, &actions)
    holdBack(session, &actions)
    if verdict == .exhausted { dismiss(connection, .rate, &actions) }
    if session.wrongTokens >= Self.wrongTokensMax {
      dismiss(connection, .token, &actions)
    }
  }

  private static let wrongTokensMax = 5

  /// Puts into the queue of replies what becomes of a message.
  private mutating func take(
    _ message: Result<ClientMessage, MalformedMessage>, from session: Session, at now: Instant,
    _ actions: inout HubActions
  ) {
    switch message {
    case .failure(let malformed):
      counters.refusals[malformed.error.code, default: 0] += 1
      _ = session.owed.append(.malformed(malformed, session.grant))
    case .success(let message):
      if message.request.isChange {
        let requester = Requester.connection(session.id, place: session.owed.append(.awaited))
        change(message, by: requester, session.caller, at: now, &actions)
      } else if case .authenticate(let secret) = message.request {
        // At once, and not in its turn: what comes next on this connection is judged by it.
        let answer = authenticate(session, secret, message.tag, at: now, &actions)
        _ = session.owed.append(.ready(answer))
      } else {
        _ = session.owed.append(.deferred(message, receivedAt: now, session.grant))
      }
    }
  }

  private mutating func refuseForHaste(
    _ message: Result<ClientMessage, MalformedMessage>, from session: Session
  ) {
    counters.refusals[.rateLimited, default: 0] += 1
    let tag: ReplyTag
    switch message {
    case .success(let message): tag = message.tag
    case .failure(let malformed): tag = malformed.tag
    }
    let error = ErrorReply(
      .rateLimited,
      "more than \(options.requests.perSecond) requests a second; wait a second, and send fewer")
    _ = session.owed.append(.ready(.refused(tag, error, timer: nil)))
  }

  // MARK: Holding back

  /// Reads nothing more from who waits for many replies, or for the disk when that has much to do.
  private mutating func holdBack(_ session: Session, _ actions: inout HubActions) {
    guard !session.owed.isEmpty,
      session.owed.count >= options.repliesMax || board.pendingCount >= options.pendingMax,
      heldBack.insert(session.id).inserted
    else { return }
    counters.timesHeldBack += 1
    actions.transport.append(.holdBack(session.id))
  }

  /// Reads again from those who have got half of what they waited for. All that is owed waits for the disk,
  /// so each of them is thought of again.
  mutating func readOn(_ actions: inout HubActions) {
    guard !heldBack.isEmpty, board.pendingCount <= options.pendingMax / 2 else { return }
    let ready = heldBack.filter { (sessions[$0]?.owed.count ?? 0) <= options.repliesMax / 2 }
    heldBack.subtract(ready)
    for connection in ready.sorted(by: { $0.number < $1.number }) {
      actions.transport.append(.readOn(connection))
    }
  }

  // MARK: Replies

  /// Gives a message to the one who waits for it; to a connection only when its turn has come.
  mutating func reply(
    _ message: ServerMessage, to requester: Requester, at now: Instant,
    _ actions: inout HubActions
  ) {
    switch requester {
    case .http(let id): respond(message, to: id, &actions)
    case .connection(let connection, let place):
      guard let session = sessions[connection] else { return }
      session.owed.resolve(place, message)
      while let ready = session.owed.takeReady() {
        actions.send(ready.text, to: connection)
      }
    }
  }

  mutating func refuse(
    _ tag: ReplyTag, _ error: ErrorReply, timer: TimerID?, to requester: Requester,
    at now: Instant, _ actions: inout HubActions
  ) {
    count(error.code, &actions)
    // Who may not see a timer does not see it beside an error either.
    let isHidden = error.code == .forbidden || error.code == .unauthorized
    let state = isHidden ? nil : timer.flatMap { reading($0, at: now) }
    reply(.refused(tag, error, timer: state), to: requester, at: now, &actions)
  }

  mutating func flush(_ requester: Requester, at now: Instant, _ actions: inout HubActions) {
    guard case .connection(let connection, _) = requester, let session = sessions[connection]
    else { return }
    flush(session, at: now, &actions)
  }

  /// Answers a connection as far as nothing before is still on its way to the disk.
  private mutating func flush(
    _ session: Session, at now: Instant, _ actions: inout HubActions
  ) {
    while let entry = session.owed.takeFirst() {
      switch entry {
      case .awaited: return
      case .ready(let message): actions.send(message.text, to: session.id)
      case .deferred(let message, let receivedAt, let grant):
        answer(message, receivedAt: receivedAt, as: grant, on: session, at: now, &actions)
      case .malformed(let malformed, let grant):
        let timer = malformed.timer.flatMap { grant.shows($0) ? reading($0, at: now) : nil }
        let refusal = ServerMessage.refused(malformed.tag, malformed.error, timer: timer)
        actions.send(refusal.text, to: session.id)
      }
    }
  }

  /// Answers what changes nothing.
  private mutating func answer(
    _ message: ClientMessage, receivedAt: Instant, as grant: Grant, on session: Session,
    at now: Instant, _ actions: inout HubActions
  ) {
    let tag = message.tag
    do throws(ErrorReply) {
      switch message.request {
      case .subscribe(let selection, let interval, let since):
        let subscription = Subscription(selection, interval: interval, since: since)
        try subscribe(session, subscription, as: grant, at: now, &actions) { actions in
          actions.send(ServerMessage.accepted(tag, .done).text, to: session.id)
        }
      case .unsubscribe(let selection):
        try grant.check(message.request)
        let published = board.publishedRevision
        resubscribe(session, selection, at: now, &actions) {
          $0.unsubscribe(selection, at: published)
        }
        actions.send(ServerMessage.accepted(tag, .done).text, to: session.id)
      default:
        let outcome = try look(message.request, as: grant, receivedAt: receivedAt, at: now)
        actions.send(ServerMessage.accepted(tag, outcome).text, to: session.id)
      }
    } catch {
      count(error.code, &actions)
      actions.send(ServerMessage.refused(tag, error, timer: nil).text, to: session.id)
    }
  }

  /// What a request that changes nothing is answered, on whatever way it came.
  func look(
    _ request: ClientRequest, as grant: Grant, receivedAt: Instant, at now: Instant
  ) throws(ErrorReply) -> Outcome {
    try grant.check(request)
    switch request {
    case .get(let id):
      guard let timer = reading(id, at: now) else { throw ErrorReply(.unknownTimer, timer: id) }
      return .timer(timer)
    case .list: return .timers(shown(.all, to: grant, at: now))
    case .sync(let clientTime):
      return .synced(clientTime: clientTime, receivedAt: receivedAt, sentAt: now)
    case .authenticate, .subscribe, .unsubscribe, .change, .finishAll:
      throw ErrorReply(.badRequest, "this command needs a WebSocket; connect to /ws")
    }
  }

  // MARK: Subscriptions

  /// Subscribes a connection, after `confirm` has told it so, and sends the full set at once.
  ///
  /// `grant` is what the connection was allowed when it asked. Where it has authenticated since, it is subscribed to
  /// no more than it is allowed now, as if that had come after the subscription.
  private mutating func subscribe(
    _ session: Session, _ subscription: Subscription, as grant: Grant, at now: Instant,
    _ actions: inout HubActions, confirm: (inout HubActions) -> Void
  ) throws(ErrorReply) {
    let selection = subscription.selection
    try grant.check(.subscribe(selection, interval: subscription.interval))
    guard session.subscriptionCount(with: selection) <= options.subscriptionsMax else {
      throw ErrorReply(
        .tooManySubscriptions,
        "a connection has at most \(options.subscriptionsMax) subscriptions; \"*\" is one for all")
    }
    confirm(&actions)
    let timers = shown(selection, to: grant, at: now)
    actions.send(ServerMessage.snapshot(.subscribed, timers).text, to: session.id)
    let published = board.publishedRevision
    // What it was sent on this connection already is not sent again.
    let missed = missedEnds(subscription, of: session, at: now)
    resubscribe(session, selection, at: now, &actions) {
      $0.subscribe(selection, interval: subscription.interval)
      if $0.grant != grant { $0.accept($0.grant, at: published) }
    }
    for (id, ends) in missed where session.hears(id) {
      if subscription.since == nil, !session.heardEnds.insert(id).inserted { continue }
      send(ends, of: id, to: session, at: now, &actions)
    }
  }

  /// The ends that a new subscription brings, by timers: those that a client missed by its own account, or, of one that
  /// gives none, those that nobody was there to be sent.
  private func missedEnds(
    _ subscription: Subscription, of session: Session, at now: Instant
  ) -> [(id: TimerID, ends: [Instant])] {
    let published = board.publishedRevision
    guard let since = subscription.since else {
      return lateEnds.among(subscription.selection, at: now).filter {
        session.followedRevision(of: $0.id, published: published) == nil
      }
    }
    guard since.history == history, since.revision <= published else { return [] }
    let ids =
      switch subscription.selection {
      case .all: board.idsWithEnds(after: since.revision)
      case .timers(let ids): Set(ids).sorted()
      }
    return ids.compactMap { id in
      let known = session.followedRevision(of: id, published: published) ?? since.revision
      let ends = board.ends(id, after: max(known, since.revision)).map(\.at)
      return ends.isEmpty ? nil : (id, ends)
    }
  }

  private func shown(
    _ selection: TimerSelection, to grant: Grant, at now: Instant
  ) -> [TimerReading] {
    switch selection {
    case .all:
      board.durableTimers.filter { grant.shows($0.id) }.map { TimerReading($0, at: now) }
    case .timers(let ids): Set(ids).sorted().compactMap { reading($0, at: now) }
    }
  }

  /// Changes a session's subscriptions to these timers, and joins and leaves what comes of it.
  mutating func resubscribe(
    _ session: Session, _ selection: TimerSelection, at now: Instant,
    _ actions: inout HubActions, change: (Session) -> Void
  ) {
    let before = session.channels(touchedBy: selection)
    change(session)
    let after = session.channels(touchedBy: selection)
    for channel in before.subtracting(after) {
      if let group = leave(channel) { actions.transport.append(.leave(session.id, group)) }
    }
    for channel in after.subtracting(before) {
      let isNew = channels.group(channel) == nil
      actions.transport.append(.join(session.id, channels.join(channel)))
      if isNew { schedule(channel, at: now) }
    }
  }

  @discardableResult
  private mutating func leave(_ channel: Channel) -> GroupID? {
    let group = channels.leave(channel)
    if let group, channels.group(channel) == nil { deadlines.remove(.tick(group)) }
    return group
  }

  private mutating func send(
    _ ends: [Instant], of id: TimerID, to session: Session, at now: Instant,
    _ actions: inout HubActions
  ) {
    guard let timer = reading(id, at: now) else { return }
    markDelivered(id, at: now, &actions)
    actions.send(ServerMessage.snapshot(.restored, [timer]).text, to: session.id)
    for end in ends {
      let ended = SnapshotCause.ended(at: end, late: true)
      actions.send(ServerMessage.snapshot(ended, [timer]).text, to: session.id)
    }
  }
}
