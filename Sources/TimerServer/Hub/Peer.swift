import WebSocketTransport

/// The address of a client.
struct Peer {
  let address: String
  /// As in `Handshake.peerNetwork`.
  let network: String
}

extension Peer {
  init(_ request: HTTPRequest) {
    self.init(address: request.peerAddress, network: request.peerNetwork)
  }
}
