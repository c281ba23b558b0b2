/// Counts of what the transport has rejected, and of what is open now.
public struct TransportCounters: Sendable, Equatable {
  /// The number of rejections since the start; a reason that never occurred has no entry.
  public var refusals: [TransportRefusal: Int] = [:]
  /// TCP connections accepted since the start.
  public var acceptedCount = 0
  /// WebSockets that are open now, those included that are being closed.
  public var webSocketCount = 0
  /// HTTP connections that are open now, including unfinished handshakes.
  public var httpConnectionCount = 0
  /// Those of the WebSockets that come by TLS.
  public var tlsWebSocketCount = 0

  /// Loops that this is the sum of.
  public var loopCount = 1

  /// Creates counters that are all zero.
  public init() {}

  mutating func add(_ other: TransportCounters) {
    refusals.merge(other.refusals, uniquingKeysWith: +)
    acceptedCount += other.acceptedCount
    webSocketCount += other.webSocketCount
    httpConnectionCount += other.httpConnectionCount
    tlsWebSocketCount += other.tlsWebSocketCount
    loopCount += other.loopCount
  }

  mutating func count(_ refusal: TransportRefusal) { refusals[refusal, default: 0] += 1 }
}

/// Reasons for the transport's rejections, with the status or close code that the client gets. The raw values are
/// labels of a metric.
public enum TransportRefusal: String, Sendable, CaseIterable {
  /// There are as many WebSockets as allowed; another one is closed with 1013.
  case tooManyConnections
  /// One address has as many connections as allowed: 1013 or 503; far above the limit they are closed unread.
  case tooManyPerAddress
  /// There are as many HTTP connections or descriptors as allowed: the oldest idle connection was ended for a new one,
  /// or the new one was closed.
  case tooManyHTTPConnections
  /// A request, a WebSocket's handshake or a TLS handshake took too long: 408 where a response is possible.
  case slowRequest
  /// The client read nothing of its response for too long.
  case slowReader
  /// Replies that can't be dropped piled up for a WebSocket that does not read: 1013.
  case slowWebSocket
  /// More bytes waited for all clients together than allowed: the one with the most was closed, a WebSocket with 1013.
  case unreadBytesTotal
  /// A WebSocket read nothing for too long of what waited for it, and was dropped.
  case stalled
  /// The client's first bytes were not TLS, or not a version that the server accepts: an alert, or 400.
  case tlsHandshake
  /// A WebSocket's handshake was wrong or not admitted: 4xx.
  case webSocketHandshake
  /// A request that can't be read: 400, 501, 505.
  case malformedRequest
  /// The head of a request is too long: 431.
  case headTooLong
  /// The body of a request is too long: 413.
  case bodyTooLong
  /// A message is too long: 1009.
  case messageTooLong
  /// A message that is not text: 1003.
  case binaryMessage
  /// The client did not answer a ping in time.
  case pingTimeout
}
