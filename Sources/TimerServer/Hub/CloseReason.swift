import WebSocketTransport

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
