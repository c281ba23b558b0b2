/// Events of the network, the mailboxes and the clock, delivered one at a time, on the loop's thread.
public enum TransportEvent: Sendable {
  /// A WebSocket handshake was accepted; nothing else about this connection came before it.
  case opened(ConnectionID, Handshake)
  /// One whole text message, valid UTF-8 and within the size limit.
  case received(ConnectionID, [UInt8])
  /// One whole binary message; only with `TransportOptions.acceptsBinary`.
  case receivedBinary(ConnectionID, [UInt8])
  /// The connection is gone, for whatever reason; its identity never comes back.
  case closed(ConnectionID)
  /// A whole HTTP request for a path under one of `TransportOptions.servicePaths`; owes one `respond`.
  case requested(HTTPRequestID, HTTPRequest)
  /// The instant asked for by `TransportAction.setDeadline` has come.
  case deadline
  /// A mailbox that this loop listens to has messages.
  case woken
  /// SIGINT or SIGTERM, or `ServiceLoop.stop()`.
  case stopRequested
  /// SIGHUP; the certificate has been reloaded.
  case reloadRequested
}

/// The identity of one WebSocket connection; unique in the life of the process.
public struct ConnectionID: Hashable, Sendable {
  public let number: UInt64

  public init(_ number: UInt64) {
    self.number = number
  }
}

/// The identity of one HTTP request that waits for its answer; unique in the life of the process.
public struct HTTPRequestID: Hashable, Sendable {
  public let number: UInt64

  public init(_ number: UInt64) {
    self.number = number
  }
}

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

/// One `name=value` of a query string, percent-decoded.
public struct QueryItem: Sendable, Equatable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A whole HTTP request.
public struct HTTPRequest: Sendable, Equatable {
  /// `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`.
  public var method: String
  /// Path segments between the slashes, each percent-decoded by itself, so that a segment may hold `/`:
  /// `/api/timers/a%2Fb` is `["api", "timers", "a/b"]`.
  public var path: [String]
  public var query: [QueryItem]
  /// Lowercase header names; only those in `headersKept`.
  public var headers: [String: String]
  public var body: [UInt8]
  /// As in `Handshake.peerAddress`.
  public var peerAddress: String

  /// The peer's network: its IPv4 address, or its IPv6 network of 64 bits, all of whose addresses belong to one client.
  public var peerNetwork: String { IPAddress.networkText(of: peerAddress) }

  /// The headers that are passed on; nothing else of a request's head reaches the server.
  public static let headersKept = [
    "host", "origin", "authorization", "content-type", "if-match", "if-none-match",
    "idempotency-key", "sec-fetch-site", "sec-purpose", "purpose", "x-purpose", "x-moz",
    "x-forwarded-for", "forwarded",
  ]

  public init(
    method: String, path: [String], query: [QueryItem] = [], headers: [String: String] = [:],
    body: [UInt8] = [], peerAddress: String = "127.0.0.1"
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.peerAddress = peerAddress
  }
}
