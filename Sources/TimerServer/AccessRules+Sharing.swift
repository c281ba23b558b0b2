import WebSocketTransport

/// What browsers want to be told before they show another site's page an answer (the Fetch standard, §3.3).
extension AccessRules {
  /// With every answer: whether the page that asked, if its site is on the list, may read it. nil where there is no
  /// list, and nothing to be told.
  var answerHeaders: (@Sendable ([String: String]) -> [HTTPHeader])? {
    guard !origins.isEmpty else { return nil }
    return { headers in
      // A cache must not give one site's answer to another.
      let varies = HTTPHeader("Vary", "Origin")
      guard let origin = headers["origin"], isListed(origin) else { return [varies] }
      return [
        varies, HTTPHeader("Access-Control-Allow-Origin", origin),
        HTTPHeader("Access-Control-Expose-Headers", "ETag, Retry-After"),
      ]
    }
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

  private func isListed(_ origin: String) -> Bool { origins.contains(origin.lowercased()) }
}
