import Foundation
import TimerProtocol
public import WebSocketTransport

/// Who may speak to the server by HTTP and WebSocket, as far as a request's head tells.
///
/// A browser lets any page open a socket to any host. So a page of another origin is refused, and so is a
/// `Host` that isn't ours: a name made to point here would else pass for our own.
public struct AccessRules: Sendable {
  /// Names that the server was told are its own, lowercase, without port.
  private var hosts: Set<String> = []
  /// Origins of other sites that may use it, lowercase, as browsers send them.
  private(set) var origins: Set<String> = []

  public init() {}

  /// Takes a further name of the server; false for what no browser sends as one: with a scheme or a port
  /// it would never be met, and nobody would be told why.
  public mutating func takeHost(_ name: String) -> Bool {
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isOfName) else { return false }
    hosts.insert(name.lowercased())
    return true
  }

  /// Takes another site, as in `https://show.example`, or `null` for pages that have none; false for anything
  /// else, a page's address too.
  public mutating func takeOrigin(_ origin: String) -> Bool {
    let text = origin.lowercased()
    guard text != "null" else {
      origins.insert(text)
      return true
    }
    guard let mark = text.range(of: "://"), mark.lowerBound > text.startIndex,
      text[..<mark.lowerBound].utf8.allSatisfy(Self.isOfScheme)
    else { return false }
    var authority = text[mark.upperBound...]
    // RFC 6454 §6.2: a port that goes without saying is not said.
    for (scheme, port) in [("http", ":80"), ("https", ":443")]
    where text[..<mark.lowerBound] == scheme && authority.hasSuffix(port) {
      authority.removeLast(port.count)
    }
    let host = HostName(authority: String(authority))
    guard host.isAddress || !host.name.isEmpty && host.name.utf8.allSatisfy(Self.isOfName) else {
      return false
    }
    origins.insert("\(text[..<mark.upperBound])\(authority)")
    return true
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    isOfScheme(byte) && byte != UInt8(ascii: "+") || byte == UInt8(ascii: "_")
  }

  private static func isOfScheme(_ byte: UInt8) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return character.isASCII && (character.isLetter || character.isNumber)
      || "+-.".contains(character)
  }

  /// Why a handshake is refused; nil when it is let in.
  public func refusal(of handshake: Handshake) -> HTTPResponse? {
    hostRefusal(handshake.headers) ?? originRefusal(handshake.headers)
  }

  /// Why a request is refused; who only reads may come from anywhere, since browsers don't show other
  /// sites' pages the answer.
  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    if let refusal = hostRefusal(request.headers) { return refusal }
    return ["GET", "HEAD"].contains(request.method) ? nil : originRefusal(request.headers)
  }

  /// Why a file of the page is refused: on a name made to point here, even our own page is another's.
  func refusal(ofFile headers: [String: String]) -> HTTPResponse? { hostRefusal(headers) }

  /// Why a change by a URL alone is refused. A link on another site's page opens it with no `Origin`, but
  /// browsers tell where it stood.
  func refusal(ofPress request: HTTPRequest) -> HTTPResponse? {
    if let refusal = hostRefusal(request.headers) ?? originRefusal(request.headers) {
      return refusal
    }
    let site = request.headers["sec-fetch-site"]?.lowercased() ?? "none"
    guard site != "none", site != "same-origin" else { return nil }
    return Self.forbidden("pages of another site may not press buttons here")
  }

  private func hostRefusal(_ headers: [String: String]) -> HTTPResponse? {
    guard let host = headers["host"].map(HostName.init(authority:)) else { return nil }
    guard !host.isAddress, host.name != "localhost", !hosts.contains(host.name) else { return nil }
    return Self.forbidden(
      "the Host header names none of this server's names; start it with --host NAME to add one")
  }

  private func originRefusal(_ headers: [String: String]) -> HTTPResponse? {
    guard let origin = headers["origin"]?.lowercased(), !origins.contains(origin) else {
      return nil
    }
    // RFC 6454 §7: a scheme, `://`, and an authority; nothing more.
    if let scheme = origin.range(of: "://"), let host = headers["host"],
      origin[scheme.upperBound...] == host.lowercased()
    {
      return nil
    }
    return Self.forbidden(
      "pages of another origin may not use this server; start it with --origin ORIGIN to allow one")
  }

  private static func forbidden(_ why: String) -> HTTPResponse {
    HTTPResponse(
      status: 403, headers: [Hub.notStored],
      body: ServerMessage.refused(.none, ErrorReply(.forbidden, why), timer: nil).text)
  }
}

/// The host of an authority such as `[::1]:8080`, without its port.
private struct HostName {
  let name: String

  /// RFC 3986 §3.2: a host, and a port in digits behind a colon. What is anything else has no name, and so
  /// none that is ours.
  init(authority: String) {
    // By bytes: this is done for every connection.
    let text = Array(authority.lowercased().utf8)
    let isBracketed = text.first == UInt8(ascii: "[")
    let mark = text.firstIndex(of: UInt8(ascii: isBracketed ? "]" : ":")) ?? text.endIndex
    let host = isBracketed ? text[..<mark].dropFirst() : text[..<mark]
    let port = isBracketed ? text[mark...].dropFirst() : text[mark...]
    let isClosed = !isBracketed || mark < text.endIndex
    let isPort = isClosed && port.first ?? UInt8(ascii: ":") == UInt8(ascii: ":")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    name =
      isPort && port.dropFirst().allSatisfy(digits.contains)
      ? String(decoding: host, as: UTF8.self) : ""
  }

  /// IPv6 in brackets or IPv4: nobody can make such a name point elsewhere.
  var isAddress: Bool {
    if name.utf8.contains(UInt8(ascii: ":")) {
      return name.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 4
      && parts.allSatisfy { UInt8(Substring($0)) != nil && $0.first != UInt8(ascii: "+") }
  }
}
