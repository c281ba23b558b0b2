import TimerCore
import TimerStorage

/// The tokens that are known right now.
struct TokenTable: Equatable, Sendable {
  let tokens: [Token]

  init(_ tokens: [Token] = []) {
    self.tokens = tokens
  }

  /// Takes a file's entries, all or none.
  init(_ records: [TokenRecord]) throws(TokenFault) {
    var tokens: [Token] = []
    for record in records {
      let token = try Token(record)
      guard !tokens.contains(where: { $0.name.utf8.elementsEqual(token.name.utf8) }) else {
        throw TokenFault("there are two tokens named \(token.name)")
      }
      tokens.append(token)
    }
    self.tokens = tokens
  }

  /// The token of this digest, unless it has ended. Every token is compared, so that the time taken reveals nothing.
  func token(_ digest: TokenDigest, at now: WallTime) -> Token? {
    var found: Token?
    for token in tokens where token.digest == digest { found = token }
    return found.flatMap { $0.hasEnded(at: now) ? nil : $0 }
  }

  /// Returns whether a token is still the same and has not ended.
  func isValid(_ token: Token, at now: WallTime) -> Bool {
    tokens.contains(token) && !token.hasEnded(at: now)
  }

  /// When the next token ends.
  func nextEnd(after now: WallTime) -> WallTime? {
    tokens.compactMap(\.end).filter { $0 > now }.min()
  }
}
