import TimerProtocol
import WebSocketTransport

/// The owner of a set of idempotency keys: a token, or all visitors without one.
///
/// A token is identified by its digest and not by its name, which may be given to another token later.
struct Principal: Hashable, Sendable {
  /// Some digits of the token's digest; empty for visitors without a token.
  let text: String

  static let visitors = Principal(text: "")

  init(text: String) {
    self.text = text
  }

  init(_ token: Token) {
    text = String(token.digest.hexadecimal.prefix(Self.digits))
  }

  private static let digits = 16
}

/// The sender of a request: its grant and its network.
struct Caller {
  let grant: Grant
  /// The address, or the IPv6 network, that visitors without a token share their quota by.
  let network: String

  init(grant: Grant, network: String) {
    self.grant = grant
    self.network = network
  }

  init(_ request: HTTPRequest, _ grant: Grant) {
    self.init(grant: grant, network: request.peerNetwork)
  }

  /// A change of this name, if it has one, as this caller's own.
  func named(_ request: ClientRequest) -> IdempotentRequest? {
    guard let key = request.idempotencyKey, let fingerprint = request.fingerprint else {
      return nil
    }
    return IdempotentRequest(
      key: ScopedIdempotencyKey(key, of: grant.principal), fingerprint: fingerprint,
      network: grant.token == nil ? network : nil)
  }
}

/// A change's name, which stands for one change of one principal.
struct ScopedIdempotencyKey: Hashable {
  let key: IdempotencyKey
  /// nil for a record of an older server, which did not keep the principal: it may be anyone's.
  let principal: Principal?

  init(_ key: IdempotencyKey, of principal: Principal?) {
    self.key = key
    self.principal = principal
  }
}
