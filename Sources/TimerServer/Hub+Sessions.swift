import TimerCore
import TimerProtocol
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
    sessions[connection] = Session(
      id: connection, address: handshake.peerAddress, grant: grant,
      budget: RequestBudget(options.requests, at: now))
    greet(connection, grant.role, at: now, &actions)
    subscribe(connection, handshake.query, at: now, &actions)
  }

  /// Subscribes as the URL asks.
  private mutating func subscribe(
    _ connection: ConnectionID, _ query: [QueryItem], at now: Instant, _ actions: inout HubActions
  ) {
    do {
      guard let wish = try SubscriptionQuery(query) else { return }
      try subscribe(connection, wish.selection, interval: wish.interval, at: now, &actions) { _ in }
    } catch {
      counters.refusals[error.code, default: 0] += 1
      actions.send(ServerMessage.refused(.none, error, timer: nil).text, to: connection)
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
    guard let verdict = sessions[connection]?.budget.take(at: now) else { return }
    counters.messagesReceived += 1
    let message = Result { () throws(MalformedMessage) in try ClientMessage(text) }
    if verdict == .granted {
      take(message, from: connection, at: now, &actions)
    } else {
      refuseForHaste(message, from: connection, at: now, &actions)
    }
    flush(connection, at: now, &actions)
    holdBack(connection, &actions)
    if verdict == .exhausted { dismiss(connection, .rate, &actions) }
    if let count = sessions[connection]?.wrongTokens, count >= Self.wrongTokensMax {
      dismiss(connection, .token, &actions)
    }
  }

  private static let wrongTokensMax = 5

  /// Puts into the queue of replies what becomes of a message.
  private mutating func take(
    _ message: Result<ClientMessage, MalformedMessage>, from connection: ConnectionID,
    at now: Instant, _ actions: inout HubActions
  ) {
    switch message {
    case .failure(let malformed):
      counters.refusals[malformed.error.code, default: 0] += 1
      _ = sessions[connection]?.owed.append(.malformed(malformed))
    case .success(let message):
      if message.request.isChange {
        guard let grant = sessions[connection]?.grant,
          let place = sessions[connection]?.owed.append(.awaited)
        else { return }
        let requester = Requester.connection(connection, place: place)
        change(message, by: requester, grant: grant, at: now, &actions)
      } else if case .authenticate(let secret) = message.request {
        // At once, and not in its turn: what comes next on this connection is judged by it.
        let answer = authenticate(connection, secret, message.tag, at: now, &actions)
        _ = sessions[connection]?.owed.append(.ready(answer))
      } else {
        _ = sessions[connection]?.owed.append(.deferred(message, receivedAt: now))
      }
    }
  }

  private mutating func refuseForHaste(
    _ message: Result<ClientMessage, MalformedMessage>, from connection: ConnectionID,
    at now: Instant, _ actions: inout HubActions
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
    _ = sessions[connection]?.owed.append(.ready(.refused(tag, error, timer: nil)))
  }

  // MARK: Holding back

  /// Reads nothing more from who waits for many replies, or for the disk when that has much to do.
  private mutating func holdBack(_ connection: ConnectionID, _ actions: inout HubActions) {
    guard let owed = sessions[connection]?.owed, !owed.isEmpty,
      owed.count >= options.repliesMax || board.pendingCount >= options.pendingMax,
      heldBack.insert(connection).inserted
    else { return }
    counters.timesHeldBack += 1
    actions.transport.append(.holdBack(connection))
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
      guard sessions[connection] != nil else { return }
      sessions[connection]?.owed.resolve(place, message)
      while let ready = sessions[connection]?.owed.takeReady() {
        actions.send(ready.text, to: connection)
      }
    }
  }

  mutating func refuse(
    _ tag: ReplyTag, _ error: ErrorReply, timer: TimerID?, to requester: Requester,
    at now: Instant, _ actions: inout HubActions
  ) {
    counters.refusals[error.code, default: 0] += 1
    // Who may not see a timer does not see it beside an error either.
    let isHidden = error.code == .forbidden || error.code == .unauthorized
    let state = isHidden ? nil : timer.flatMap { reading($0, at: now) }
    reply(.refused(tag, error, timer: state), to: requester, at: now, &actions)
  }

  mutating func flush(_ requester: Requester, at now: Instant, _ actions: inout HubActions) {
    if case .connection(let connection, _) = requester { flush(connection, at: now, &actions) }
  }

  /// Answers a connection as far as nothing before is still on its way to the disk.
  private mutating func flush(
    _ connection: ConnectionID, at now: Instant, _ actions: inout HubActions
  ) {
    while let entry = sessions[connection]?.owed.takeFirst() {
      switch entry {
      case .awaited: return
      case .ready(let message): actions.send(message.text, to: connection)
      case .deferred(let message, let receivedAt):
        answer(message, receivedAt: receivedAt, on: connection, at: now, &actions)
      case .malformed(let malformed):
        let grant = sessions[connection]?.grant
        let timer = malformed.timer.flatMap {
          grant?.shows($0) == true ? reading($0, at: now) : nil
        }
        let refusal = ServerMessage.refused(malformed.tag, malformed.error, timer: timer)
        actions.send(refusal.text, to: connection)
      }
    }
  }

  /// Answers what changes nothing.
  private mutating func answer(
    _ message: ClientMessage, receivedAt: Instant, on connection: ConnectionID, at now: Instant,
    _ actions: inout HubActions
  ) {
    let tag = message.tag
    guard let grant = sessions[connection]?.grant else { return }
    do throws(ErrorReply) {
      switch message.request {
      case .subscribe(let selection, let interval):
        try subscribe(connection, selection, interval: interval, at: now, &actions) { actions in
          actions.send(ServerMessage.accepted(tag, .done).text, to: connection)
        }
      case .unsubscribe(let selection):
        try grant.check(message.request)
        resubscribe(connection, at: now, &actions) { $0.unsubscribe(selection) }
        actions.send(ServerMessage.accepted(tag, .done).text, to: connection)
      default:
        let outcome = try look(message.request, as: grant, receivedAt: receivedAt, at: now)
        actions.send(ServerMessage.accepted(tag, outcome).text, to: connection)
      }
    } catch {
      counters.refusals[error.code, default: 0] += 1
      actions.send(ServerMessage.refused(tag, error, timer: nil).text, to: connection)
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
  private mutating func subscribe(
    _ connection: ConnectionID, _ selection: TimerSelection, interval: Seconds, at now: Instant,
    _ actions: inout HubActions, confirm: (inout HubActions) -> Void
  ) throws(ErrorReply) {
    guard let session = sessions[connection] else { return }
    try session.grant.check(.subscribe(selection, interval: interval))
    guard session.subscriptionCount(with: selection) <= options.subscriptionsMax else {
      throw ErrorReply(
        .tooManySubscriptions,
        "a connection has at most \(options.subscriptionsMax) subscriptions; \"*\" is one for all")
    }
    confirm(&actions)
    let timers = shown(selection, to: session.grant, at: now)
    actions.send(ServerMessage.snapshot(.subscribed, timers).text, to: connection)
    resubscribe(connection, at: now, &actions) { $0.subscribe(selection, interval: interval) }
    tellLateEnds(to: connection, at: now, &actions)
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

  /// Changes a session's subscriptions, and joins and leaves what comes of it.
  mutating func resubscribe(
    _ connection: ConnectionID, at now: Instant, _ actions: inout HubActions,
    change: (inout Session) -> Void
  ) {
    guard var session = sessions[connection] else { return }
    let before = session.channels
    change(&session)
    let after = session.channels
    sessions[connection] = session
    for channel in before.subtracting(after) {
      if let group = leave(channel) { actions.transport.append(.leave(connection, group)) }
    }
    for channel in after.subtracting(before) {
      let isNew = channels.group(channel) == nil
      actions.transport.append(.join(connection, channels.join(channel)))
      if isNew { schedule(channel, at: now) }
    }
  }

  @discardableResult
  private mutating func leave(_ channel: Channel) -> GroupID? {
    let group = channels.leave(channel)
    if let group, channels.group(channel) == nil { deadlines.remove(.tick(group)) }
    return group
  }

  /// A countdown that ended while the server was down says so once to each who hears it.
  private mutating func tellLateEnds(
    to connection: ConnectionID, at now: Instant, _ actions: inout HubActions
  ) {
    for (id, ends) in lateEnds.all(at: now) {
      guard let timer = reading(id, at: now), let session = sessions[connection], session.hears(id),
        !session.heardEnds.contains(id)
      else { continue }
      sessions[connection]?.heardEnds.insert(id)
      noteTold(id, at: now, &actions)
      actions.send(ServerMessage.snapshot(.restored, [timer]).text, to: connection)
      for end in ends {
        let ended = SnapshotCause.ended(at: end, late: true)
        actions.send(ServerMessage.snapshot(ended, [timer]).text, to: connection)
      }
    }
  }
}
