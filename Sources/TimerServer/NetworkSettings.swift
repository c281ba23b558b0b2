import WebSocketTransport

/// TLS, proxies, and what of the network is too much.
public struct NetworkSettings: Sendable {
  /// PEM files; TLS is spoken when both are there.
  public var certificatePath: String?
  public var keyPath: String?
  /// Whole seconds in which a request or a handshake has to arrive.
  public var handshakeSeconds = 10
  public var connectionsPerAddressMax = 512
  public var httpConnectionsMax = 1_024
  public var messageBytesMax = 16_384
  public var headBytesMax = 16_384
  /// Bytes that may wait for a WebSocket that does not read.
  public var unreadBytesMax = 1_048_576
  /// Bytes that may wait for all readers together.
  public var unreadBytesTotalMax = 50_331_648
  /// Loops that share the connections, a thread each.
  public var loopCount = 1
  /// Whole seconds in which connections may answer the close frame when the server stops.
  public var drainSeconds = 2
  private var trustedProxies: [AddressRange] = []

  public init() {}

  /// Trusts the forwarded addresses of a proxy with this address, or in this range as in `10.0.0.0/8`. Returns false if
  /// it is neither.
  public mutating func trust(_ proxy: String) -> Bool {
    guard let range = AddressRange(proxy) else { return false }
    trustedProxies.append(range)
    return true
  }

  /// True if clients come through a proxy.
  public var isBehindProxy: Bool { !trustedProxies.isEmpty }

  /// The scheme of the server's URL.
  public var scheme: String { certificatePath == nil ? "http" : "https" }

  func apply(to options: inout TransportOptions) {
    if let certificatePath, let keyPath {
      options.tls = TLSOptions(certificatePath: certificatePath, keyPath: keyPath)
    }
    options.loopCount = loopCount
    options.trustedProxies = trustedProxies
    options.handshakeSeconds = Double(handshakeSeconds)
    options.drainSeconds = Double(drainSeconds)
    options.connectionsPerAddressMax = connectionsPerAddressMax
    options.httpConnectionsMax = httpConnectionsMax
    options.messageBytesMax = messageBytesMax
    options.bodyBytesMax = messageBytesMax
    options.headBytesMax = headBytesMax
    options.unsentBytesMax = unreadBytesMax
    options.unsentBytesTotalMax = unreadBytesTotalMax
  }
}
