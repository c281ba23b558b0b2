import TimerProtocol
import WebSocketTransport

/// Who may speak to the server by HTTP and WebSocket, as far as a request's head tells.
///
/// A browser lets any page open a socket to any host. So a page of another origin is refused, and so is a
/// `Host` that isn't ours: a name made to point here would else pass for our own.
public struct AccessRules: Sendable {
  /// Names that the server was told are its own.
  private var hosts: Set<URLHost> = []
  /// Origins of other sites that may use it.
  private(set) var origins: Set<Origin> = []

  public init() {}

  /// Takes a further name of the server; false for what no browser sends as one: with a scheme or a port
  /// it would never be met, and nobody would be told why.
  public mutating func addHost(_ name: String) -> Bool {
    guard let host = URLHost(name: name) else { return false }
    hosts.insert(host)
    return true
  }

  /// Takes another site, as in `https://show.example` or `tauri://localhost`, `null` for pages that are nobody's,
  /// or `file://`; false for anything else, a page's address too.
  public mutating func addOrigin(_ text: String) -> Bool {
    guard let origin = Origin(text) else { return false }
    origins.insert(origin)
    return true
  }

  /// Why a handshake is refused; nil when it is let in.
  func refusal(of handshake: Handshake) -> AccessRefusal? {
    hostRefusal(handshake.headers) ?? originRefusal(handshake.headers)
  }

  /// Why a request is refused; who only reads may come from anywhere, since browsers don't show other
  /// sites' pages the answer.
  func refusal(of request: HTTPRequest) -> AccessRefusal? {
    if let refusal = hostRefusal(request.headers) { return refusal }
    return ["GET", "HEAD"].contains(request.method) ? nil : originRefusal(request.headers)
  }

  /// Why a file of the page is refused: on a name made to point here, even our own page is another's.
  func refusal(ofFile headers: [String: String]) -> AccessRefusal? { hostRefusal(headers) }

  /// Why a change by a URL alone is refused. A link on another site's page opens it with no `Origin`, but
  /// browsers tell where it stood; and they tell when nobody has opened it yet.
  func refusal(ofChangeByGet request: HTTPRequest) -> AccessRefusal? {
    if let refusal = hostRefusal(request.headers) ?? originRefusal(request.headers) {
      return refusal
    }
    let site = request.headers["sec-fetch-site"]?.lowercased() ?? "none"
    guard site == "none" || site == "same-origin" else { return .crossSiteChange }
    return Self.isPrefetch(request.headers) ? .prefetch : nil
  }

  /// Whether a `Host` is ours, or none came: browsers always send one.
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

  /// Whether a browser fetches ahead what somebody may open. `Sec-Purpose` says what else than that a request is
  /// for, whatever its words (the Fetch standard, §3.6); the others are what browsers said before.
  private static func isPrefetch(_ headers: [String: String]) -> Bool {
    if headers["sec-purpose"]?.isEmpty == false { return true }
    return ["purpose", "x-purpose", "x-moz"].contains { name in
      guard let value = headers[name]?.lowercased() else { return false }
      return ["prefetch", "prerender", "preview"].contains { value.contains($0) }
    }
  }

  /// Whether browsers are to come to this `Host` by TLS alone: under the names that the server was told. They hold no
  /// address to it (RFC 6797 §8.1.1), and on `localhost` it would hold every other server of the machine.
  func isStrict(_ headers: [String: String]) -> Bool {
    guard let host = headers["host"].flatMap(Authority.init)?.host else { return false }
    return hosts.contains(host) && !host.isAddress && !host.isLocal
  }

  /// Whether there is a name that could be.
  var hasNames: Bool { !hosts.isEmpty }
}

extension URLHost {
  fileprivate static let localhost = URLHost(name: "localhost")

  /// RFC 6761 §6.3.
  fileprivate var isLocal: Bool { self == .localhost || text.hasSuffix(".localhost") }
}

/// Why a request's head lets nobody in.
enum AccessRefusal: Equatable, Sendable {
  /// The `Host` is none of this server's, or no host at all.
  case host(String)
  /// The `Origin` is not allowed, or no origin at all.
  case origin(String)
  /// Another site's page asks for a change by a URL alone.
  case crossSiteChange
  /// A browser asks for such a change before anybody has.
  case prefetch

  var status: Int {
    // A browser takes it for no answer, and asks again when somebody opens the page.
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
    case .crossSiteChange: "pages of another site may not press buttons here"
    case .prefetch: "a page that is fetched ahead changes nothing; open it"
    }
  }
}
