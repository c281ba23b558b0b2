/// Where an event loop listens, and its limits.
public struct TransportOptions: Sendable {
  /// Numeric IPv4 or IPv6 addresses, or `localhost`, which is 127.0.0.1 and, where there is IPv6, ::1.
  public var addresses = ["127.0.0.1"]
  /// The first of them; set, it is the only one.
  package var address: String {
    get { addresses.first ?? "127.0.0.1" }
    set { addresses = [newValue] }
  }
  /// The port on each address. 0 picks a free one; see `ServiceLoop.port`.
  public var port = 8080
  /// Loops of a `LoopGroup`, at most 64; each takes a thread. A `ServiceLoop` is one.
  public var loopCount = 1
  /// With a certificate the port speaks TLS only. Its files are reloaded at SIGHUP, if the loop handles signals.
  public var tls: TLSOptions?
  /// Proxies whose `X-Forwarded-For`, or `Forwarded` in its absence, is trusted.
  public var trustedProxies: [AddressRange] = []
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
  /// True if binary messages are accepted; otherwise one closes its connection with 1003.
  public var acceptsBinary = false
  /// Longest HTTP body taken; over it the answer is 413.
  public var bodyBytesMax = 16_384
  /// Longest head of an HTTP request or a WebSocket handshake; over it the answer is 431.
  public var headBytesMax = 16_384
  /// The time for a request to arrive, including WebSocket and TLS handshakes; after it the response is 408, if TLS is
  /// far enough for one. The same time applies to a response without progress and to an idle connection.
  public var handshakeSeconds = 10.0
  /// Connections in all; one more is closed with 1013. Kept below the limit of file descriptors,
  /// of which a connection takes one, and three with TLS.
  public var connectionsMax = 16_384
  /// HTTP connections in all, including unfinished handshakes. Beyond that the connection that has waited for its peer
  /// the longest is evicted. With several loops each has an equal share.
  public var httpConnectionsMax = 1_024
  /// Connections of one IPv4 address or one IPv6 network (64 bits); one more is closed with 1013, or its
  /// request answered with 503. Loopback addresses and trusted proxies themselves are not bounded; a
  /// WebSocket that comes by a proxy counts for its client.
  public var connectionsPerAddressMax = 512
  /// True if the limit applies to loopback addresses too.
  public var isLoopbackBounded = false
  /// Unsent bytes that may wait for one reader before it is closed with 1013, beside one message that is larger; a
  /// reader is not read itself from the half of it on.
  public var unsentBytesMax = 1_048_576
  /// Unsent bytes that may wait for all readers together, HTTP answers included; beyond that the one with the most is
  /// closed with 1013, or cut. Of several loops each has an equal share, and the only reader of a loop is let be.
  public var unsentBytesTotalMax = 50_331_648
  /// The time for which a reader may read nothing of what waits for it before it is dropped, whatever it sends.
  public var stallSeconds = 30.0
  /// Silence after which a ping is sent; a connection still silent after as long again is dropped.
  public var pingSeconds = 20.0
  /// How long `TransportAction.stop` waits for clients to answer the close frame and to read what is on its way to
  /// them.
  public var drainSeconds = 3.0
  /// Admits a WebSocket handshake (nil), or returns the response that refuses it. HTTP requests are refused by their
  /// responses.
  public var admission: @Sendable (Handshake) -> HTTPResponse? = { _ in nil }
  /// The same for requests for static files, by the headers of `HTTPRequest.headersKept`.
  public var fileAdmission: @Sendable ([String: String]) -> HTTPResponse? = { _ in nil }
  /// The response to a request for a service that the transport refuses itself, in the service's format.
  public var serviceRefusal: @Sendable (ServiceRefusal) -> HTTPResponse = { $0.plainResponse }
  /// Headers of a response beside the common ones, by the request's headers of `HTTPRequest.headersKept`.
  public var answerHeaders: (@Sendable ([String: String]) -> [HTTPHeader])?
  /// Called on the loop's thread for each rejection by the transport itself. Not called for a handshake that
  /// `admission` refused, nor for a connection that sent nothing in time, since browsers open connections ahead of
  /// need.
  public var refused: @Sendable (TransportRefusal) -> Void = { _ in }
  /// Takes one line of the transport's own log.
  public var log: @Sendable (TransportLogLevel, String) -> Void = { _, _ in }
  /// Takes one line about what a peer has done, of which there may be as many as peers like; nil: `log` takes it.
  public var peerLog: (@Sendable (TransportLogLevel, String) -> Void)?

  public init() {}

  var handshakeMilliseconds: UInt64 { UInt64(min(max(0.01, handshakeSeconds), 1e9) * 1_000) }
  var drainMicroseconds: Int64 { Int64(min(max(0, drainSeconds), 1e9) * 1_000_000) }
}
