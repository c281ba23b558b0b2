import TimerCore
import TimerProtocol
import WebSocketTransport

/// The costs of requests, in units of one cheap request such as `get`: 10 to 15 µs of CPU time.
enum RequestCost {
  /// A connection, from the handshake to `hello`.
  static let handshake = 3
  /// An unknown token: its digest, a comparison with every token, a line in the log.
  static let wrongToken = 50
  static let metrics = 8

  /// Reading a message of this size.
  static func reading(_ byteCount: Int) -> Int {
    1 + byteCount / 1_000
  }

  /// Showing or writing this many states.
  static func states(_ count: Int) -> Int {
    count / 8
  }

  /// Moving this many subscriptions to other channels.
  static func channels(_ subscriptionCount: Int) -> Int {
    subscriptionCount / 4
  }

  /// Finding the names that a token is limited to.
  static func seeking(_ scope: TimerScope) -> Int {
    scope.patternCount / 4
  }

  /// Writing a message of this size: one of eight states costs a unit.
  static func writing(_ byteCount: Int) -> Int {
    byteCount / 2_500
  }

  static func qrCode(_ text: QRText) -> Int {
    8 + text.text.utf8.count / 7
  }

  /// The highest cost of work that is done at once, and not in the queue.
  static let cheapMax = 64

  /// About how long so many units take.
  static func length(_ units: Int) -> Seconds {
    Seconds(microseconds: Int64(units) * 25)
  }
}

/// The payer for requests over all connections: a token, or all visitors without one from the same address or IPv6
/// network.
enum Payer: Hashable {
  case token(Principal)
  case visitors(network: String)

  init(_ grant: Grant, network: String) {
    self = grant.token == nil ? .visitors(network: network) : .token(grant.principal)
  }

  init(_ grant: Grant, _ request: HTTPRequest) {
    self.init(grant, network: request.peerNetwork)
  }
}
