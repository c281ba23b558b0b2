import TimerCore
import TimerProtocol
import WebSocketTransport

/// The life of a connection: its handshake, its requests and its end.
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
    subscribeByURL(session, handshake.query, &turn)
  }

  /// Closes a connection of an address that has made too many, before it costs anything.
  private mutating func rejectHandshake(_ connection: ConnectionID, _ turn: inout Turn) {
    let why = CloseReason.handshakes
    counters.closedConnections[why, default: 0] += 1
    turn.actions.refusals.append(.handshakeRate)
    turn.actions.transport.append(.close(connection, why.code, reason: why.reason))
  }

  /// Subscribes as the URL asks.
  private mutating func subscribeByURL(
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
    for channel in session.subscriptions.channels { leave(channel) }
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

  /// Closes a connection from the server's side, and removes its session.
  mutating func disconnect(
    _ connection: ConnectionID, _ why: CloseReason, _ turn: inout Turn
  ) {
    guard let session = sessions[connection] else { return }
    // Queued requests before them are refused, so that changes under way still get their replies.
    refuseQueuedReplies(session, &turn)
    counters.closedConnections[why, default: 0] += 1
    close(connection)
    turn.actions.transport.append(.close(connection, why.code, reason: why.reason))
  }
}

extension ClientRequest {
  fileprivate var isSubscription: Bool {
    if case .subscribe = self { true } else { false }
  }
}
