/// The head of an HTTP/1 request, checked.
///
/// It is read here and not by libwebsockets 4.1, which decodes the path before it can be split (`a%2Fb`
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

  static let bytesMax = 16_384

  enum Parsed: Equatable {
    case incomplete
    /// The head, and how many bytes it took.
    case complete(HTTPHead, length: Int)
    case malformed(status: Int, String)
  }

  /// Reads a head from the front of what has arrived; no head ended within the first `searched` bytes.
  static func parse(_ bytes: [UInt8], searched: Int = 0) -> Parsed {
    // RFC 9112 §2.2: empty lines before a request are passed over.
    let start = bytes.firstIndex { $0 != carriageReturn && $0 != lineFeed } ?? bytes.count
    guard let end = endOfHead(bytes, from: max(start, searched - 3)) else {
      return bytes.count > bytesMax
        ? .malformed(status: 431, "The request's head is over \(bytesMax) bytes.") : .incomplete
    }
    guard end <= bytesMax else {
      return .malformed(status: 431, "The request's head is over \(bytesMax) bytes.")
    }
    var lines = bytes[start..<end].split(separator: lineFeed, omittingEmptySubsequences: false)
      .map { $0.last == carriageReturn ? $0.dropLast() : $0 }
    while lines.last?.isEmpty == true { lines.removeLast() }
    guard let requestLine = lines.first else { return .malformed(status: 400, "An empty request.") }
    do {
      var head = try head(ofLine: requestLine)
      for line in lines.dropFirst() { try head.add(field: line) }
      try head.check()
      return .complete(head, length: end)
    } catch {
      return .malformed(status: error.status, error.words)
    }
  }

  private struct Malformed: Error {
    var status = 400
    var words: String
  }

  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")

  /// Just past the empty line: past `\n\n` or `\n\r\n`.
  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    var rest = bytes[start...]
    while let feed = rest.firstIndex(of: lineFeed) {
      rest = bytes[(feed + 1)...]
      if rest.first == lineFeed { return feed + 2 }
      if rest.starts(with: [carriageReturn, lineFeed]) { return feed + 3 }
    }
    return nil
  }

  private static func head(ofLine line: ArraySlice<UInt8>) throws(Malformed) -> HTTPHead {
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, isToken(words[0]) else {
      throw Malformed(words: "The request line is not `METHOD /path HTTP/1.1`.")
    }
    let version = String(decoding: words[2], as: UTF8.self)
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
      throw version.hasPrefix("HTTP/")
        ? Malformed(status: 505, words: "HTTP/1.1 is spoken here.")
        : Malformed(words: "The request line is not `METHOD /path HTTP/1.1`.")
    }
    let target = try originForm(words[1])
    let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    return HTTPHead(
      method: String(decoding: words[0], as: UTF8.self), path: Array(target[..<mark]),
      query: Array(target[mark...].dropFirst()), isVersion11: version == "HTTP/1.1", headers: [:])
  }

  /// `/path?query`, also of `http://host/path?query` (RFC 9112 §3.2.2).
  private static func originForm(_ target: ArraySlice<UInt8>) throws(Malformed) -> ArraySlice<UInt8>
  {
    guard !target.contains(where: { $0 <= 0x20 || $0 >= 0x7f || $0 == UInt8(ascii: "#") }) else {
      throw Malformed(words: "The path holds a byte that has to be percent-encoded.")
    }
    if target.first == UInt8(ascii: "/") || target.elementsEqual("*".utf8) { return target }
    let text = String(decoding: target, as: UTF8.self).lowercased()
    for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
      let rest = target.dropFirst(scheme.utf8.count)
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return ArraySlice("/".utf8) }
      return rest[slash...]
    }
    // The `host:port` of CONNECT, which the method's refusal is about.
    return target
  }

  /// Fields of which two can't both be meant.
  private static let singular: Set<String> = [
    "host", "origin", "authorization", "content-type", "sec-websocket-key", "sec-websocket-version",
  ]

  private mutating func add(field line: ArraySlice<UInt8>) throws(Malformed) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Self.isToken(line[..<colon]) else {
      throw Malformed(words: "A header is not `Name: value`.")
    }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    let bytes = Self.trimmed(line[line.index(after: colon)...])
    guard !bytes.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) else {
      throw Malformed(words: "The header \(name) holds a control character.")
    }
    let value = String(decoding: bytes, as: UTF8.self)
    guard let earlier = headers[name] else {
      headers[name] = value
      return
    }
    if name == "content-length", earlier == value { return }
    guard name != "content-length", !Self.singular.contains(name) else {
      throw Malformed(words: "The header \(name) is there twice.")
    }
    headers[name] = "\(earlier), \(value)"
  }

  private func check() throws(Malformed) {
    if isVersion11, headers["host"] == nil {
      throw Malformed(words: "HTTP/1.1 wants a Host header.")
    }
    if let length = headers["content-length"] {
      guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw Malformed(words: "Content-Length is no number.")
      }
    }
    if let coding = headers["transfer-encoding"] {
      guard isVersion11, headers["content-length"] == nil else {
        throw Malformed(words: "Transfer-Encoding goes with HTTP/1.1 and without Content-Length.")
      }
      guard coding.lowercased() == "chunked" else {
        throw Malformed(status: 501, words: "The only Transfer-Encoding known here is chunked.")
      }
    }
  }

  /// RFC 9110 §5.6.2.
  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return bytes
  }
}

extension HTTPHead {
  /// The words of a header that is a list, in lowercase where case means nothing.
  func list(_ name: String) -> [String] {
    (headers[name] ?? "").split(separator: ",").map { word in
      String(
        word.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
      )
    }.filter { !$0.isEmpty }
  }

  /// Whether the connection may carry another request after this one.
  var isKeptAlive: Bool {
    isVersion11 && !list("connection").contains { $0.lowercased() == "close" }
  }

  /// Whether a WebSocket is asked for.
  var wantsWebSocket: Bool { list("upgrade").contains { $0.lowercased() == "websocket" } }

  var expectsContinue: Bool { isVersion11 && headers["expect"]?.lowercased() == "100-continue" }

  /// The segments between the slashes, each decoded by itself; nil when one can't be.
  var segments: [String]? {
    guard path.first == UInt8(ascii: "/") else { return nil }
    var segments: [String] = []
    for part in path.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      guard let segment = percentDecoded(part) else { return nil }
      segments.append(segment)
    }
    return segments
  }

  /// The headers that are handed on.
  var headersKept: [String: String] {
    headers.filter { HTTPRequest.headersKept.contains($0.key) }
  }
}
