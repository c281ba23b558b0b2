import SharedAlgorithms

/// The head of an HTTP/1 request, checked.
///
/// It is read by llhttp and not by libwebsockets 4.1, which decodes the path before it can be split (`a%2Fb`
/// becomes two segments, `a+b` becomes `a b`, `a&b` is cut in two), waits for 100 MB after a POST
/// without a length, knows no chunked bodies and closes on pipelined requests.
struct HTTPHead: Equatable {
  var method: String
  /// The target without its query, as it came.
  var path: [UInt8]
  /// Without the `?`; empty when there was none.
  var query: [UInt8]
  /// HTTP/1.1, not 1.0.
  var isVersion11: Bool
  /// Lowercase names; several fields of one name are joined with a comma, as RFC 9110 §5.3 says.
  var headers: [String: String]

  /// Checks what was read.
  init(_ parser: HTTPParser) throws(HTTPRefusal) {
    guard parser.version >= (1, 0) else { throw .malformed("it has no version") }
    guard parser.version <= (1, 1) else { throw .version }
    let target = try Self.originForm(parser.target)
    let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    method = parser.method
    path = Array(target[..<mark])
    query = Array(target[mark...].dropFirst())
    isVersion11 = parser.version == (1, 1)
    headers = Dictionary(minimumCapacity: parser.fields.count + 1)
    for field in parser.fields { try add(parser.text[field.name], parser.text[field.value]) }
    try check()
    if let authority = Self.authority(of: parser.target) { headers["host"] = authority }
  }

  /// The host that a whole URL names, which counts in place of the Host field (RFC 9112 §3.2.2).
  private static func authority(of target: ArraySlice<UInt8>) -> String? {
    guard target.first != UInt8(ascii: "/") else { return nil }
    let text = String(decoding: target, as: UTF8.self)
    for scheme in ["http://", "https://"] where text.lowercased().hasPrefix(scheme) {
      return String(text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" })
    }
    return nil
  }

  /// `/path?query`, also of `http://host/path?query` (RFC 9112 §3.2.2).
  private static func originForm(_ target: ArraySlice<UInt8>) throws(HTTPRefusal) -> ArraySlice<
    UInt8
  > {
    guard !target.contains(UInt8(ascii: "#")) else { throw .malformed("its path holds a `#`") }
    if target.first == UInt8(ascii: "/") || target.elementsEqual("*".utf8) { return target }
    let text = String(decoding: target, as: UTF8.self).lowercased()
    for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
      let rest = target.dropFirst(scheme.utf8.count)
      let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
      guard let end else { return ArraySlice("/".utf8) }
      return rest[end] == UInt8(ascii: "/") ? rest[end...] : "/".utf8 + rest[end...]
    }
    // The `host:port` of CONNECT, which the method's refusal is about.
    return target
  }

  /// Fields of which two can't both be meant.
  private static let singular: Set<String> = [
    "host", "origin", "authorization", "content-type", "sec-websocket-key", "sec-websocket-version",
  ]

  private mutating func add(
    _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>
  ) throws(HTTPRefusal) {
    guard !name.isEmpty else { throw .malformed("a header has no name") }
    let name = String(decoding: name, as: UTF8.self)
    let value = String(decoding: blanksTrimmed(value), as: UTF8.self)
    guard let earlier = headers[name] else {
      headers[name] = value
      return
    }
    guard !Self.singular.contains(name) else {
      throw .malformed("the header \(name) appears twice")
    }
    headers[name] = "\(earlier), \(value)"
  }

  private func check() throws(HTTPRefusal) {
    let host = headers["host"]
    guard host != nil || !isVersion11, host?.utf8.contains(where: isBlank) != true else {
      throw .malformed("HTTP/1.1 requires a Host header of one word")
    }
    if let coding = headers["transfer-encoding"] {
      guard isVersion11 else { throw .malformed("Transfer-Encoding requires HTTP/1.1") }
      guard coding.lowercased() == "chunked" else { throw .coding }
    }
  }
}

extension HTTPHead {
  /// The words of a header that is a list, in lowercase where case means nothing.
  func list(_ name: String) -> [String] {
    guard let value = headers[name] else { return [] }
    return Array(value.utf8).split(separator: UInt8(ascii: ",")).map(blanksTrimmed)
      .filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The entity tags of a header; empty when it can't be read. A tag may hold commas.
  func entityTags(_ name: String) -> [String] {
    guard let value = headers[name] else { return [] }
    let tags =
      QuotedList.pieces(of: Array(value.utf8)[...], at: UInt8(ascii: ","), .isLiteral) ?? []
    return tags.map { String(decoding: blanksTrimmed($0), as: UTF8.self) }.filter { !$0.isEmpty }
  }

  /// True if the connection may carry another request after this one.
  var isKeptAlive: Bool {
    isVersion11 && method != "CONNECT"
      && !list("connection").contains { $0.lowercased() == "close" }
  }

  /// True if the request asks for an upgrade to a WebSocket.
  var wantsWebSocket: Bool { list("upgrade").contains { $0.lowercased() == "websocket" } }

  var expectsContinue: Bool { isVersion11 && headers["expect"]?.lowercased() == "100-continue" }

  /// The path up to its second slash; nil when it can't be decoded.
  var firstSegment: String? {
    PercentEncoding.decoded(path.dropFirst().prefix { $0 != UInt8(ascii: "/") })
  }

  /// The segments between the slashes, each decoded by itself; nil when one can't be.
  var segments: [String]? {
    guard path.first == UInt8(ascii: "/") else { return nil }
    var segments: [String] = []
    for part in path.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      guard let segment = PercentEncoding.decoded(part) else { return nil }
      segments.append(segment)
    }
    return segments
  }

  /// The headers that are passed on to the server.
  var headersKept: [String: String] {
    headers.filter { HTTPRequest.headersKept.contains($0.key) }
  }
}

/// Without the blanks around it (RFC 9110 §5.6.3).
func blanksTrimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
  var text = text
  while let byte = text.first, isBlank(byte) { text.removeFirst() }
  while let byte = text.last, isBlank(byte) { text.removeLast() }
  return text
}

private func isBlank(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
}
