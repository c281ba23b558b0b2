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

/// Reasons for the transport's rejections. The raw values are labels of a metric.
public enum TransportRefusal: String, Sendable, CaseIterable {
  /// WebSockets in all: 1013.
  case tooManyConnections
  /// Connections of one address: 1013, 503, or far above the bound closed unread.
  case tooManyPerAddress
  /// HTTP connections in all, or descriptors: the oldest that waits was ended in favour of a new one, or
  /// the new one closed.
  case tooManyHTTPConnections
  /// A request, a WebSocket's handshake or a TLS handshake took too long: 408 where it can be said.
  case slowRequest
  /// Nothing of an answer was read for too long.
  case slowReader
  /// Replies that can't be dropped piled up for a WebSocket that does not read: 1013.
  case slowWebSocket
  /// More waited for all readers together than may: the one with the most was closed, a WebSocket with 1013.
  case unreadBytesTotal
  /// A WebSocket read nothing for too long of what waited for it, and was dropped.
  case stalled
  /// No TLS was spoken, or none that is spoken here: an alert, or 400.
  case tlsHandshake
  /// A WebSocket's handshake was wrong or not admitted: 4xx.
  case webSocketHandshake
  /// A request that can't be read: 400, 501, 505.
  case malformedRequest
  /// 431.
  case headTooLong
  /// 413.
  case bodyTooLong
  /// 1009.
  case messageTooLong
  /// A message that is not text: 1003.
  case binaryMessage
  /// A ping was not answered.
  case pingTimeout
}
