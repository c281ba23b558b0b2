import WebSocketTransport

/// A question of whether the server is well, as those ask it who watch over servers: by whatever name they know it,
/// with nothing but what they must, and however busy it is.
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
