import TimerCore
import TimerProtocol
import WebSocketTransport

/// Permissions: what a client may do, by the token that it presents.
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
    let wallTime = timerTable.clock.wallTime(at: turn.now)
    guard let token = digest.flatMap({ tokens.token($0, at: wallTime) }) else {
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
      replaceGrant(of: session, by: Grant(token), &turn)
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

  private mutating func replaceGrant(
    of session: Session, by grant: Grant, _ turn: inout Turn
  ) {
    guard grant != session.grant else { return }
    let cost = RequestCost.channels(session.subscriptions.count)
    charge(cost, to: session, at: turn.now)
    let published = timerTable.publishedRevision
    resubscribe(session, .all, &turn) { $0.accept(grant, at: published) }
    spend(cost, at: turn.now)
  }
}
