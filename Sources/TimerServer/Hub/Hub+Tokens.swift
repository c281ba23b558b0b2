import TimerCore
import TimerProtocol
import WebSocketTransport

/// Tokens that change and end, and connections that are closed for it.
extension Hub {
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
    let end = tokens?.nextEnd(after: timerTable.clock.wallTime(at: now))
    deadlines.set(.tokenEnd, end?.instant(offset: wallOffset))
  }

  private func isValid(_ grant: Grant, at now: Instant) -> Bool {
    guard let token = grant.token else { return grant == anonymousGrant }
    return tokens?.isValid(token, at: timerTable.clock.wallTime(at: now)) ?? false
  }
}
