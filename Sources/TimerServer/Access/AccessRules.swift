import TimerProtocol
import WebSocketTransport

/// Decides by a request's head whether its sender may use the server.
///
/// A browser lets any page open a socket to any host. So a page of another origin is refused, and so is a `Host` that
/// isn't ours: otherwise an attacker's name that points here would pass for our own (DNS rebinding).
public struct AccessRules: Sendable {
  /// The server's own host names.
  private var hosts: Set<URLHost> = []
  /// Origins of other sites that may use it.
  private(set) var origins: Set<Origin> = []

  public init() {}

  /// Adds a host name of the server. Returns false for text that no browser sends as a host name: with a scheme or a
  /// port it would never match, without an error.
  public mutating func addHost(_ name: String) -> Bool {
    guard let host = URLHost(name: name) else { return false }
    hosts.insert(host)
    return true
  }

  /// Adds another site's origin, as in `https://show.example` or `tauri://localhost`, `null` for opaque origins, or
  /// `file://`. Returns false for anything else, such as the address of a page.
  public mutating func addOrigin(_ text: String) -> Bool {
    guard let origin = Origin(text) else { return false }
    origins.insert(origin)
    return true
  }

  /// Why a handshake is refused; nil when it is let in.
  func refusal(of handshake: Handshake) -> AccessRefusal? {
    hostRefusal(handshake.headers) ?? originRefusal(handshake.headers)
  }

  /// Returns why a request is refused. Requests that only read may come from any page, since browsers don't show other
  /// sites' pages the response.
  func refusal(of request: HTTPRequest) -> AccessRefusal? {
    if let refusal = hostRefusal(request.headers) { return refusal }
    return ["GET", "HEAD"].contains(request.method) ? nil : originRefusal(request.headers)
  }

  /// Why a file of the page is refused: on a name made to point here, even our own page is another's.
  func refusal(ofFile headers: [String: String]) -> AccessRefusal? { hostRefusal(headers) }

  /// Returns why a change by URL alone is refused. A link on another site's page opens such a URL without an `Origin`,
  /// but browsers send where the link was, and whether they fetch ahead.
  func refusal(ofChangeByGet request: HTTPRequest) -> AccessRefusal? {
    if let refusal = hostRefusal(request.headers) ?? originRefusal(request.headers) {
      return refusal
    }
    let site = request.headers["sec-fetch-site"]?.lowercased() ?? "none"
    guard site == "none" || site == "same-origin" else { return .crossSiteChange }
    return Self.isPrefetch(request.headers) ? .prefetch : nil
  }

  /// Returns whether a `Host` is ours, or none came: browsers always send one.
  func knowsHost(_ headers: [String: String]) -> Bool { hostRefusal(headers) == nil }

  private func hostRefusal(_ headers: [String: String]) -> AccessRefusal? {
    guard let field = headers["host"] else { return nil }
    guard let host = Authority(field)?.host,
      host.isAddress || host == .localhost || hosts.contains(host)
    else { return .host(field) }
    return nil
  }

  private func originRefusal(_ headers: [String: String]) -> AccessRefusal? {
    guard let field = headers["origin"] else { return nil }
    guard let origin = Origin(field) else { return .origin(field) }
    if origins.contains(origin) { return nil }
    guard let authority = headers["host"].flatMap(Authority.init), origin.isOwn(of: authority)
    else { return .origin(field) }
    return nil
  }

  /// Returns whether a browser prefetches a page. `Sec-Purpose` is only sent with requests other than navigations (the
  /// Fetch standard, §3.6); the others are older headers of browsers.
  private static func isPrefetch(_ headers: [String: String]) -> Bool {
    if headers["sec-purpose"]?.isEmpty == false { return true }
    return ["purpose", "x-purpose", "x-moz"].contains { name in
      guard let value = headers[name]?.lowercased() else { return false }
      return ["prefetch", "prerender", "preview"].contains { value.contains($0) }
    }
  }

  /// Returns whether browsers have to use TLS for this `Host`, which holds for the server's own names. Browsers ignore
  /// that for addresses (RFC 6797 §8.1.1), and on `localhost` it would apply to every other server of the machine.
  func isStrict(_ headers: [String: String]) -> Bool {
    guard let host = headers["host"].flatMap(Authority.init)?.host else { return false }
    return hosts.contains(host) && !host.isAddress && !host.isLocal
  }

  /// True if the server has a host name that HSTS could apply to.
  var hasNames: Bool { !hosts.isEmpty }
}

extension URLHost {
  fileprivate static let localhost = URLHost(name: "localhost")

  /// RFC 6761 §6.3.
  fileprivate var isLocal: Bool { self == .localhost || text.hasSuffix(".localhost") }
}

/// Reasons for refusing a request by its head.
enum AccessRefusal: Equatable, Sendable {
  /// The `Host` is none of this server's, or no host at all.
  case host(String)
  /// The `Origin` is not allowed, or no origin at all.
  case origin(String)
  /// Another site's page asks for a change by a URL alone.
  case crossSiteChange
  /// A browser prefetches a URL that makes a change.
  case prefetch

  var status: Int {
    // A browser does not keep this response, and sends the request again when a person opens the page.
    if case .prefetch = self { 503 } else { 403 }
  }

  var response: HTTPResponse {
    HTTPResponse(
      status: status, headers: [Hub.notStored],
      body: ServerMessage.refused(.none, ErrorReply(.forbidden, words), timer: nil).text)
  }

  private var words: String {
    switch self {
    case .host:
      "the Host header names none of this server's names; start it with --host NAME to add one"
    case .origin:
      "pages of another origin may not use this server; start it with --origin ORIGIN to allow one"
    case .crossSiteChange: "pages of another site may not change timers by GET"
    case .prefetch: "a prefetched page changes nothing; open it"
    }
  }
}
