import WebSocketTransport

/// CORS and HSTS headers: what browsers need before they show another site's page a response (the Fetch standard,
/// §3.3), and whether they must use TLS.
extension AccessRules {
  /// Makes the headers of every response: whether the page that sent the request may read it, if its site is on the
  /// list; and, over TLS, that browsers must use nothing else. nil where no header is needed.
  func answerHeaders(isSecure: Bool) -> (@Sendable ([String: String]) -> [HTTPHeader])? {
    let isStrict = isSecure && hasNames
    guard !origins.isEmpty || isStrict else { return nil }
    return { headers in
      let strictness = isStrict && self.isStrict(headers) ? [Self.strictTransport] : []
      return origins.isEmpty ? strictness : strictness + sharing(headers)
    }
  }

  /// RFC 6797 §6.1: a year. The names below this one may be others' servers.
  private static let strictTransport = HTTPHeader("Strict-Transport-Security", "max-age=31536000")

  private func sharing(_ headers: [String: String]) -> [HTTPHeader] {
    // A cache must not give one site's answer to another.
    let varies = HTTPHeader("Vary", "Origin")
    guard let origin = headers["origin"], isListed(origin) else { return [varies] }
    // As it came: browsers compare it byte by byte.
    return [
      varies, HTTPHeader("Access-Control-Allow-Origin", origin),
      HTTPHeader("Access-Control-Expose-Headers", "ETag, Retry-After"),
    ]
  }

  /// The answer to a browser that asks, before a request of a listed site, what it may be like; nil when it is no
  /// such question. No token comes with it: the request itself brings one.
  func preflight(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.method == "OPTIONS", let origin = request.headers["origin"], isListed(origin)
    else { return nil }
    return HTTPResponse(
      status: 204,
      headers: [
        Hub.notStored, HTTPHeader("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE"),
        HTTPHeader(
          "Access-Control-Allow-Headers",
          "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match"),
        HTTPHeader("Access-Control-Max-Age", "600"),
      ])
  }

  private func isListed(_ origin: String) -> Bool {
    Origin(origin).map(origins.contains) ?? false
  }
}
