import TimerCore
import TimerProtocol
import WebSocketTransport

/// Permissions: tokens that are presented, change and end, and connections that are closed for it.
extension Hub {
  /// The grant of a visitor without a token. By default everything is allowed until there are tokens, and nothing from
  /// then on, even if all tokens are removed.
  var anonymousGrant: Grant {
    Grant(anonymous: options.anonymousRole ?? (tokens == nil ? .control : .none))
  }

  /// The grant for a request's credentials. Where no tokens are set up, a presented token is ignored.
  mutating func grant(
    _ credentials: Credentials, from peer: Peer, _ turn: inout Turn
  ) throws(ErrorReply) -> Grant {
    guard tokens != nil, let secret = credentials.secret else { return anonymousGrant }
    return Grant(try token(secret, from: peer, &turn))
  }

  private mutating func token(
    _ secret: String, from peer: Peer, _ turn: inout Turn
  ) throws(ErrorReply) -> Token {
    guard let tokens else {
      throw ErrorReply(
        .unauthorized, "this server has no tokens; continue without one, with the \"role\" of hello"
      )
    }
    // The check comes before the token is looked up, which is what a wrong one costs.
    guard !handshakeBudgets.isOverdrawn(peer.network, at: turn.now) else {
      throw ErrorReply(
        .rateLimited, "too many wrong tokens or connections came from your address; wait a second")
    }
    let digest = TokenDigest(of: secret)
    guard let token = digest.flatMap({ tokens.token($0, at: wallTime(at: turn.now)) }) else {
      counters.wrongTokens += 1
      handshakeBudgets.charge(RequestCost.wrongToken, to: peer.network, at: turn.now)
      turn.actions.refusals.append(.wrongToken)
      turn.actions.log(
        .debug, "an unknown or expired token was presented from \(peer.address)")
      throw ErrorReply(
        .unauthorized, "this token is unknown or has ended; ask for a new one")
    }
    return token
  }

  // MARK: Handshake and authenticate

  /// Tells the client why its token is rejected, and closes the connection; a browser sees nothing of a refused
  /// handshake.
  mutating func rejectToken(
    _ connection: ConnectionID, _ error: ErrorReply, _ turn: inout Turn
  ) {
    sendHello(connection, .none, &turn)
    counters.refusals[error.code, default: 0] += 1
    turn.actions.send(ServerMessage.refused(.none, error, timer: nil).text, to: connection)
    counters.closedConnections[.token, default: 0] += 1
    turn.actions.transport.append(.close(connection, .policyViolation, reason: "wrong token"))
  }

  mutating func sendHello(
    _ connection: ConnectionID, _ role: Role, _ turn: inout Turn
  ) {
    if status != publication.last { publication.isDoubtful = true }
    let hello = Hello(
      server: options.serverName, epoch: options.epoch, role: role.rawValue, now: turn.now,
      history: history, revision: timerTable.publishedRevision, status: status)
    turn.actions.send(ServerMessage.hello(hello).text, to: connection)
  }

  /// Replaces a connection's grant by that of a token; it applies to all later requests.
  mutating func authenticate(
    _ session: Session, _ secret: String, _ tag: ReplyTag, _ turn: inout Turn
  ) -> ServerMessage {
    do throws(ErrorReply) {
      let token = try token(secret, from: session.peer, &turn)
      grant(session, Grant(token), &turn)
      turn.actions.log(.debug, "connection \(session.id.number) has token \(token.name) now")
      return .accepted(tag, .authenticated(role: token.role.rawValue))
    } catch {
      counters.refusals[error.code, default: 0] += 1
      if tokens != nil, error.code == .unauthorized {
        session.wrongTokens += 1
        charge(RequestCost.wrongToken, to: session, at: turn.now)
      }
      return .refused(tag, error, timer: nil)
    }
  }

  private mutating func grant(
    _ session: Session, _ grant: Grant, _ turn: inout Turn
  ) {
    guard grant != session.grant else { return }
    let cost = RequestCost.channels(session.subscriptionCount)
    charge(cost, to: session, at: turn.now)
    let published = timerTable.publishedRevision
    resubscribe(session, .all, &turn) { $0.accept(grant, at: published) }
    spend(cost, at: turn.now)
  }

  // MARK: Refused

  /// Counts a refusal, and logs it if an option could have prevented it.
  mutating func count(_ code: ErrorCode, _ turn: inout Turn) {
    counters.refusals[code, default: 0] += 1
    switch code {
    // An unknown token is logged separately.
    case .unauthorized: turn.actions.refusals.append(.noToken)
    case .tooManyTimers: turn.actions.refusals.append(.tooManyTimers)
    case .tooManySubscriptions: turn.actions.refusals.append(.tooManySubscriptions)
    default: break
    }
  }

  // MARK: Closing connections

  /// Ends a connection by our will; it is no session from here on.
  mutating func disconnect(
    _ connection: ConnectionID, _ why: CloseReason, _ turn: inout Turn
  ) {
    guard let session = sessions[connection] else { return }
    // Its changes still get their replies, whatever it asked for before.
    refuseQueuedReplies(session, &turn)
    counters.closedConnections[why, default: 0] += 1
    close(connection)
    turn.actions.transport.append(.close(connection, why.code, reason: why.reason))
  }

  // MARK: Tokens that change

  /// Replaces the tokens, and closes connections whose token is no longer valid.
  mutating func replaceTokens(_ tokens: TokenTable?, _ turn: inout Turn) {
    // Something else changed beside a missing token file; no permissions change.
    guard tokens != nil || self.tokens != nil else { return }
    self.tokens = tokens ?? TokenTable()
    turn.actions.log(.info, "\(self.tokens?.tokens.count ?? 0) tokens are known now")
    enforceTokens(&turn)
  }

  /// Closes connections whose grant is no longer valid, and schedules the next token's end.
  mutating func enforceTokens(_ turn: inout Turn) {
    scheduleTokenEnd(at: turn.now)
    for (connection, session) in sessions where !isValid(session.grant, at: turn.now) {
      if let name = session.grant.token?.name {
        let why = "token \(name) was removed, changed or ended"
        turn.actions.logAboutPeers(.info, "connection \(connection.number) is closed: \(why)")
      }
      disconnect(connection, .token, &turn)
    }
  }

  /// Waits for the next token to end, by the wall clock as it goes now.
  mutating func scheduleTokenEnd(at now: Instant) {
    let end = tokens?.nextEnd(after: wallTime(at: now))
    deadlines.set(.tokenEnd, end?.instant(offset: wallOffset))
  }

  private func isValid(_ grant: Grant, at now: Instant) -> Bool {
    guard let token = grant.token else { return grant == anonymousGrant }
    return tokens?.isValid(token, at: wallTime(at: now)) ?? false
  }
}

/// The address of a client.
struct Peer {
  let address: String
  /// As in `Handshake.peerNetwork`.
  let network: String
}

extension Peer {
  init(_ request: HTTPRequest) {
    self.init(address: request.peerAddress, network: request.peerNetwork)
  }
}

/// Why the server ended a connection.
enum CloseReason: String, CaseIterable {
  case token, rate
  /// Too many handshakes or wrong tokens came from its address.
  case handshakes
  /// Another data folder was put in place.
  case restored

  var code: CloseCode {
    switch self {
    case .token, .rate: .policyViolation
    case .handshakes: .tryAgainLater
    case .restored: .serviceRestart
    }
  }

  /// For the close frame.
  var reason: String {
    switch self {
    case .token: "wrong token, or one that was removed, changed or ended"
    case .rate: "too many requests"
    case .handshakes: "too many connections at once from this address; reconnect later"
    case .restored: "the timers were restored; reconnect"
    }
  }
}
