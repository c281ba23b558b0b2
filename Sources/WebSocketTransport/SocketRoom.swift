import CLibuv

/// How many connections the limit of descriptors has room for.
struct SocketRoom {
  /// WebSockets that are let in.
  let webSocketsMax: Int
  /// HTTP connections, and those whose handshake is not done.
  let httpMax: Int
  /// Descriptors that all of them may use together, with those that are on their way out.
  let descriptorsMax: Int
  /// Descriptors of one WebSocket.
  let perWebSocket: Int
  let limit: Int

  /// Descriptors for what is no connection: files, the loop's own, one in passing.
  private static let spare = 128

  /// Raises the limit as far as it is needed and may be.
  init(_ options: TransportOptions) {
    // By TLS: the client's, and both ends of the pair between it and libwebsockets.
    perWebSocket = options.tls == nil ? 1 : 3
    let wanted = max(1, options.connectionsMax) * perWebSocket + max(1, options.httpConnectionsMax)
    let raised = shim_raise_descriptor_limit(Int64(wanted + Self.leaving + Self.spare))
    limit = raised < 0 ? wanted + Self.leaving + Self.spare : Int(raised)
    descriptorsMax = max(16, limit - Self.spare)
    // For those who are told that there is no room.
    let leaving = min(Self.leaving, descriptorsMax / 8)
    let isTight = descriptorsMax < wanted + leaving
    let http = isTight ? max(4, (descriptorsMax - leaving) / 4) : .max
    httpMax = min(max(1, options.httpConnectionsMax), http)
    let room = max(1, (descriptorsMax - leaving - httpMax) / perWebSocket)
    webSocketsMax = min(max(1, options.connectionsMax), room)
  }

  private static let leaving = 256
}
