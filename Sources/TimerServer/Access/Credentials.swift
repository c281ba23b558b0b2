import WebSocketTransport

/// The token that a request's head presents, by whichever way.
///
/// It goes no further than to its digest: it is in no log, no reply and no error.
struct Credentials {
  /// nil when none was presented.
  let secret: String?

  init(_ handshake: Handshake) {
    secret =
      Self.bearer(handshake.headers) ?? Self.subprotocol(handshake.subprotocols)
      ?? Self.parameter(handshake.query)
  }

  init(_ request: HTTPRequest) {
    secret = Self.bearer(request.headers) ?? Self.parameter(request.query)
  }

  /// RFC 6750 §2.1. Other schemes are ignored: they may be for a proxy that asks for a password.
  private static func bearer(_ headers: [String: String]) -> String? {
    guard let value = headers["authorization"] else { return nil }
    let words = value.split(separator: " ", maxSplits: 1)
    guard words.first?.lowercased() == "bearer" else { return nil }
    return words.count == 2 ? words[1].drop { $0 == " " }.description : ""
  }

  /// A browser can set no header of a WebSocket but this one.
  private static func subprotocol(_ names: [String]) -> String? {
    names.first { $0.hasPrefix("token.") }.map { String($0.dropFirst("token.".count)) }
  }

  private static func parameter(_ query: [QueryItem]) -> String? {
    query.first { $0.name == "token" }?.value
  }
}
