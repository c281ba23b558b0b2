/// How a service loop listens and what it bounds.
public struct TransportOptions: Sendable {
  /// A numeric IPv4 or IPv6 address, or `localhost`.
  public var address = "127.0.0.1"
  /// 0 picks a free port; `ServiceLoop.port` says which.
  public var port = 8080
  /// First path segments that become `TransportEvent.requested`; all else is a static file.
  public var servicePaths: [String] = ["api", "healthz", "readyz", "metrics"]
  /// The path of the WebSocket.
  public var webSocketPath = "/ws"
  /// The one subprotocol spoken; a client that asks for others only is refused with 400.
  public var subprotocol = "timersync.v1"
  /// The files of the page, by URL path (`/index.html`); `/` is `/index.html`.
  public var staticFiles: [String: StaticFile] = [:]
  /// Headers sent with every static file and every HTTP answer.
  public var commonHeaders: [HTTPHeader] = []
  /// Longest message taken, across fragments; over it the connection is closed with 1009.
  public var messageBytesMax = 16_384
  /// Longest HTTP body taken; over it the answer is 413.
  public var bodyBytesMax = 16_384
  /// Connections in all; one more is closed with 1013. Kept below the limit of file descriptors.
  public var connectionsMax = 16_384
  /// Unsent bytes that may wait for one reader before it is closed with 1013.
  public var unsentBytesMax = 262_144
  /// Silence after which a ping is sent; a connection still silent after as long again is dropped.
  public var pingSeconds = 20.0
  /// How long `TransportAction.stop` waits for clients to take their leave.
  public var drainSeconds = 3.0
  /// Lets a WebSocket handshake in (nil), or says with which status and words it is refused. HTTP
  /// requests are refused by their answers.
  public var admission: @Sendable (Handshake) -> HTTPResponse? = { _ in nil }
  /// Takes one line of the transport's own log.
  public var log: @Sendable (TransportLogLevel, String) -> Void = { _, _ in }

  public init() {}
}

/// One file of the page, held in memory.
public struct StaticFile: Sendable, Equatable {
  public var contentType: String
  public var body: [UInt8]
  /// With its quotes, as it goes out.
  public var entityTag: String

  public init(contentType: String, body: [UInt8], entityTag: String) {
    self.contentType = contentType
    self.body = body
    self.entityTag = entityTag
  }
}

/// How loud a line of the transport's log is.
public enum TransportLogLevel: Sendable {
  case error, warning, info, debug
}
