/// A client's WebSocket handshake.
public struct Handshake: Sendable, Equatable {
  /// The query's decoded pairs, in their order: `?timer=a&timer=b` is two.
  public var query: [QueryItem]
  /// Lowercase header names; only those in `HTTPRequest.headersKept`.
  public var headers: [String: String]
  /// The client's numeric address, `127.0.0.1` or `::1`: the peer's, or what trusted proxies say.
  public var peerAddress: String
  /// The subprotocols asked for, in their order; empty when none were.
  public var subprotocols: [String]
  /// As in `HTTPRequest.peerNetwork`.
  public var peerNetwork: String { IPAddress.networkText(of: peerAddress) }

  public init(
    query: [QueryItem] = [], headers: [String: String] = [:], peerAddress: String = "127.0.0.1",
    subprotocols: [String] = []
  ) {
    self.query = query
    self.headers = headers
    self.peerAddress = peerAddress
    self.subprotocols = subprotocols
  }
}
