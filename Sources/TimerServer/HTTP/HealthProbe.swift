import WebSocketTransport

/// A health check, as monitoring sends it. It is answered under any host name, without a token, and however busy the
/// server is.
enum HealthProbe {
  case health, readiness

  static let methods = ["GET", "HEAD", "OPTIONS"]

  /// nil for any other request.
  init?(_ request: HTTPRequest) {
    guard request.path.count == 1, Self.methods.contains(request.method) else { return nil }
    switch request.path[0] {
    case "healthz": self = .health
    case "readyz": self = .readiness
    default: return nil
    }
  }
}
