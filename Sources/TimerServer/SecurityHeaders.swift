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

  /// nil for what is none of the three, so that nothing else gets into the header.
  public init?(_ value: String) {
    if value == "self" || value == "'self'" {
      text = "'self'"
      return
    }
    let rest = value.utf8.drop { $0 != UInt8(ascii: ":") }
    let scheme = value.utf8.prefix { $0 != UInt8(ascii: ":") }
    guard value == "*" || (scheme.elementsEqual("https".utf8) || scheme.elementsEqual("http".utf8))
    else { return nil }
    let host = rest.dropFirst("://".utf8.count)
    guard value == "*" || rest.starts(with: "://".utf8) && !host.isEmpty,
      host.allSatisfy(Self.isOfAuthority)
    else { return nil }
    text = value
  }

  private static func isOfAuthority(_ byte: UInt8) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return character.isASCII && (character.isLetter || character.isNumber)
      || "-.:[]*".contains(character)
  }
}
