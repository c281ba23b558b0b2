import WebSocketTransport

/// The headers that hold browsers to what the page needs. Sent with every answer, the API's too.
struct SecurityHeaders {
  /// Sites that may show the page inside theirs.
  let frameAncestors: [FrameAncestor]

  /// The page has no inline script and loads nothing from elsewhere.
  var headers: [HTTPHeader] {
    let ancestors = frameAncestors.isEmpty ? ["'none'"] : frameAncestors.map(\.text)
    return [
      HTTPHeader(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
          + "connect-src 'self' ws: wss:; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
          + "frame-ancestors \(ancestors.joined(separator: " "))"),
      HTTPHeader("X-Content-Type-Options", "nosniff"),
      HTTPHeader("Referrer-Policy", "no-referrer"),
    ]
  }
}

/// A site that may show the page inside its own: `self`, an origin, or `*` for any.
public struct FrameAncestor: Hashable, Sendable {
  let text: String

  /// nil for any other text, so that nothing else gets into the header.
  public init?(_ value: String) {
    switch value.lowercased() {
    case "self", "'self'": text = "'self'"
    case "*": text = "*"
    case let value:
      guard let source = Self.source(value) else { return nil }
      text = source
    }
  }

  /// A source as the policy has it (CSP 3, §2.3.1): an origin, where `*` may stand for what a name begins with, and for
  /// any port.
  private static func source(_ value: String) -> String? {
    // The pattern is valid if a host and a port in place of its wildcards make a valid origin.
    var example = value
    if let wildcard = example.firstRange(of: "://*") {
      guard value[wildcard.upperBound...].first.map({ $0 == "." || $0 == ":" }) ?? true else {
        return nil
      }
      example.replaceSubrange(wildcard, with: "://any")
    }
    if example.hasSuffix(":*") { example.removeLast(":*".count) }
    guard let origin = Origin(example), case .site(let scheme, _, _) = origin,
      scheme == "http" || scheme == "https"
    else { return nil }
    return example == value ? origin.text : value
  }
}
