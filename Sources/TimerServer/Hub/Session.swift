import TimerCore
import TimerProtocol
import WebSocketTransport

/// The server's state for one connection. It is an object, because a value would be looked up and copied at each step
/// of a message.
final class Session {
  let id: ConnectionID
  /// The client's address, for the log.
  let address: String
  /// The network of that address; its visitors without a token share a quota of idempotency keys.
  let network: String
  private(set) var grant: Grant
  var budget: RequestBudget
  var replies = ReplyQueue()
  var subscriptions: Subscriptions
  /// The number of unknown tokens that it sent.
  var wrongTokens = 0
  /// Requests that do not count against the budget that its payer's connections share: some cheap ones and one full
  /// set, so that all screens of a building can reconnect at once.
  var initialAllowance = InitialAllowance()

  init(
    id: ConnectionID, address: String, network: String, grant: Grant, budget: RequestBudget
  ) {
    self.id = id
    self.address = address
    self.network = network
    self.grant = grant
    self.budget = budget
    subscriptions = Subscriptions(in: grant.scope)
  }

  /// Replaces the grant, and ends subscriptions that it does not cover. Ends were sent up to `revision`.
  func accept(_ grant: Grant, at revision: Int) {
    self.grant = grant
    subscriptions.accept(grant, at: revision)
  }

  var peer: Peer { Peer(address: address, network: network) }
  var payer: Payer { Payer(grant, network: network) }

  var caller: Caller { Caller(grant: grant, network: network) }
}

/// A new connection's allowance before its requests count for all connections of its payer.
struct InitialAllowance {
  private var requestsLeft = 16
  private var hasFullSet = false

  /// Returns whether a request of so many units is one of the first.
  mutating func spend(_ cost: Int) -> Bool {
    guard requestsLeft >= cost else { return false }
    requestsLeft -= cost
    return true
  }

  /// Returns whether this is the first full set.
  mutating func spendFullSet() -> Bool {
    defer { hasFullSet = true }
    return !hasFullSet
  }
}
