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
