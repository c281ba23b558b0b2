import CLibuv

/// How many connections fit into the limit of file descriptors.
struct DescriptorLimits {
  /// WebSockets that are let in.
  let webSocketsMax: Int
  /// HTTP connections of one loop, including unfinished handshakes. Each loop has its own share, since it can evict
  /// only connections of its own.
  let httpMax: Int
  /// Descriptors that all of them may use together, with those that are on their way out.
  let descriptorsMax: Int
  /// Descriptors of one WebSocket.
  let perWebSocket: Int
  let limit: Int
  /// No descriptor of a WebSocket has a higher number than this.
  let tableSize: Int

  /// Descriptors for what is no connection: files, the loop's own, one in passing.
  private static let spare = 128
  /// Descriptors of each worker loop.
  private static let sparePerLoop = 16

  /// Raises the limit as far as it is needed and may be.
  init(_ options: TransportOptions) {
    // With TLS: the client's socket, and both ends of the socket pair between the relay and libwebsockets.
    perWebSocket = options.tls == nil ? 1 : 3
    let wanted = max(1, options.connectionsMax) * perWebSocket + max(1, options.httpConnectionsMax)
    let loopCount = max(1, options.loopCount)
    let additionalListeners = max(0, ListenAddresses(options.addresses).entries.count - 1)
    let spare = Self.spare + Self.sparePerLoop * (loopCount - 1) + additionalListeners * loopCount
    let needed = wanted + Self.closing + spare
    let raised = shim_raise_descriptor_limit(Int64(needed))
    limit = raised < 0 ? needed : Int(raised)
    tableSize = min(limit, needed + Self.othersMax)
    descriptorsMax = max(16, min(limit, needed) - spare)
    // Room for connections that are refused with a reason because the server is full.
    let closing = min(Self.closing, descriptorsMax / 8)
    let isLimited = descriptorsMax < wanted + closing
    let http = isLimited ? max(4, (descriptorsMax - closing) / 4) : .max
    let httpMaxInAll = min(max(1, options.httpConnectionsMax), http)
    httpMax = max(1, httpMaxInAll / loopCount)
    let capacity = max(1, (descriptorsMax - closing - httpMaxInAll) / perWebSocket)
    webSocketsMax = min(max(1, options.connectionsMax), capacity)
  }

  private static let closing = 256
  /// Descriptors of others in this process, which may take low numbers.
  private static let othersMax = 1_024
}
