import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `An HTTP parser` {
  @Test func `reads nothing at first`() {
    let parser = HTTPParser(headBytesMax: 100, bodyBytesMax: 100)

    #expect(!parser.hasBegun && !parser.isHeadComplete && !parser.isComplete)
    #expect(throws: Never.self) { try parser.check() }
  }

  // RFC 9112 §2.1.
  @Test func `reads the example of the RFC`() {
    let text = """
      GET /hello.txt HTTP/1.1\r\n\
      User-Agent: curl/7.64.1\r\n\
      Host: www.example.com\r\n\
      Accept-Language: en, mi\r\n\
      \r\n
      """
    let fields = ["user-agent: curl/7.64.1", "host: www.example.com", "accept-language: en, mi"]

    #expect(Reading(text) == .requests([ReadRequest(target: "/hello.txt", fields: fields)]))
  }

  @Test(arguments: [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH",
  ])
  func `knows a method`(_ method: String) {
    let read = ReadRequest(method: method, fields: ["host: x"])

    #expect(Reading(request("\(method) / HTTP/1.1", ["Host: x"])) == .requests([read]))
  }

  // RFC 9112 §3.2: the four forms of a target.
  @Test(arguments: [
    ("GET", "/where?q=now"), ("GET", "http://www.example.org/pub/WWW/TheProject.html"),
    ("OPTIONS", "*"), ("CONNECT", "www.example.com:80"),
  ])
  func `hands on a target as it came`(method: String, target: String) {
    let read = ReadRequest(method: method, target: target, fields: ["host: x"])

    #expect(Reading(request("\(method) \(target) HTTP/1.1", ["Host: x"])) == .requests([read]))
  }

  @Test func `writes names in lowercase, and values as they came`() {
    let fields = ["HOST: Show.Example", "X-Some_Name.1: MiXed, \"Quoted\""]
    let read = ["host: Show.Example", "x-some_name.1: MiXed, \"Quoted\""]

    let reading = Reading(request("GET / HTTP/1.1", fields))

    #expect(reading == .requests([ReadRequest(fields: read)]))
  }

  // RFC 9112 §5.1: the blank after the colon is optional, and may be more than one.
  @Test(arguments: ["x:y", "x: y", "x:   y", "x:\ty"])
  func `leaves out blanks before a value`(_ field: String) {
    let reading = Reading(request("GET / HTTP/1.1", [field]))

    #expect(reading == .requests([ReadRequest(fields: ["x: y"])]))
  }

  @Test(arguments: ["x:", "x: ", "x:\t "])
  func `takes an empty value`(_ field: String) {
    let reading = Reading(request("GET / HTTP/1.1", [field]))

    #expect(reading == .requests([ReadRequest(fields: ["x: "])]))
  }

  @Test func `keeps fields of one name apart, in their order`() {
    let fields = ["a: 1", "b: 2", "a: 3", "a: 1"]

    #expect(Reading(request("GET / HTTP/1.1", fields)) == .requests([ReadRequest(fields: fields)]))
  }

  // RFC 9112 §2.2: a server should ignore an empty line before a request.
  @Test(arguments: ["\r\n", "\r\n\r\n"])
  func `passes over empty lines before a request`(_ lines: String) {
    let text = request("GET / HTTP/1.1", ["Host: x"])

    #expect(Reading(lines + text) == .requests([ReadRequest(fields: ["host: x"])]))
  }

  // RFC 9112 §5.2: it is refused, or each line end in a value is read as blanks.
  @Test func `reads a folded value as one line`() {
    let reading = Reading(request("GET / HTTP/1.1", ["X: a\r\n b", "Y: c"]))

    guard case .requests(let requests) = reading, let fields = requests.first?.fields else {
      #expect(reading == .malformed)
      return
    }
    #expect(fields.count == 2)
    #expect(fields.first?.split(separator: " ") == ["x:", "a", "b"])
    #expect(fields.last == "y: c")
  }

  @Test func `reads requests one after another`() {
    let text =
      request("GET /a HTTP/1.1", ["Host: x"])
      + request("POST /b HTTP/1.1", ["Host: x", "Content-Length: 2"]) + "hi"
      + request("DELETE /c HTTP/1.0", [])

    let requests = [
      ReadRequest(target: "/a", fields: ["host: x"]),
      ReadRequest(
        method: "POST", target: "/b", fields: ["host: x", "content-length: 2"], body: "hi"),
      ReadRequest(method: "DELETE", target: "/c", version: "1.0"),
    ]
    #expect(Reading(text) == .requests(requests))
  }

  @Test func `takes no byte of the request after it`() {
    let parser = HTTPParser(headBytesMax: 100, bodyBytesMax: 100)
    let next = Array("GET /b HT".utf8)
    var input = Array("POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nx".utf8) + next

    parser.consume(from: &input)

    #expect(parser.isComplete)
    #expect(input == next)
  }

  @Test func `knows what it has of a request`() {
    let parser = HTTPParser(headBytesMax: 100, bodyBytesMax: 100)
    var state: [[Bool]] = []
    for piece in ["G", "ET / HTTP/1.1\r\nContent-Length: 2\r\n\r", "\n", "a", "b"] {
      var input = Array(piece.utf8)
      parser.consume(from: &input)
      state.append([parser.hasBegun, parser.isHeadComplete, parser.isComplete])
    }

    let (begun, read, whole) = ([true, false, false], [true, true, false], [true, true, true])
    #expect(state == [begun, begun, read, read, whole])
  }

  @Test func `forgets a request when it begins with the next one`() {
    let parser = HTTPParser(headBytesMax: 100, bodyBytesMax: 100)
    var input = Array("POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nx".utf8)
    parser.consume(from: &input)

    parser.restart()

    #expect(!parser.hasBegun && !parser.isHeadComplete && !parser.isComplete)
    #expect(parser.target.isEmpty && parser.fields.isEmpty && parser.body.isEmpty)
  }

  // The head is not complete, and is not refused either.
  @Test func `waits for the rest of half a request`() {
    let text = request("POST / HTTP/1.1", ["Host: x", "Content-Length: 3"]) + "abc"

    for count in 0..<text.utf8.count {
      #expect(Reading([Array(text.utf8.prefix(count))]) == .requests([]))
    }
  }
}

@Suite struct `A body that a parser reads` {
  private func reading(_ field: String, _ body: String) -> Reading {
    Reading(request("POST / HTTP/1.1", [field]) + body)
  }

  private func body(of reading: Reading) -> String? {
    guard case .requests(let requests) = reading, requests.count == 1 else { return nil }
    return requests[0].body
  }

  @Test(arguments: [
    ("Content-Length: 0", "", ""), ("Content-Length: 5", "hello", "hello"),
    ("content-LENGTH:5", "hello", "hello"), ("Content-Length: 5 ", "hello", "hello"),
    ("Content-Length: 0005", "hello", "hello"), ("Content-Length: 4", "\r\n\r\n", "\r\n\r\n"),
    ("X: no length", "", ""),
  ])
  func `has the length that was announced`(field: String, bytes: String, expected: String) {
    #expect(body(of: reading(field, bytes)) == expected)
  }

  @Test func `is any bytes`() {
    let parser = HTTPParser(headBytesMax: 100, bodyBytesMax: 256)
    let body = (0...255).map { UInt8($0) }
    var input = Array("PUT / HTTP/1.1\r\nContent-Length: 256\r\n\r\n".utf8) + body

    while !input.isEmpty { parser.consume(from: &input) }

    #expect(parser.isComplete)
    #expect(parser.body == body)
  }

  // RFC 9112 §7.1.
  @Test(arguments: [
    ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"),
    (
      "4\r\nTime\r\n7\r\nrs run \r\nC\r\nby \r\n\r\nthem.\r\n0\r\n\r\n",
      "Timers run by \r\n\r\nthem."
    ),
    ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
    ("0005\r\nhello\r\n000\r\n\r\n", "hello"), ("1\r\n\r\r\n1\r\n\n\r\n0\r\n\r\n", "\r\n"),
    ("5;name\r\nhello\r\n0\r\n\r\n", "hello"), ("5;name=value\r\nhello\r\n0;last\r\n\r\n", "hello"),
    ("5;a=\"b;c\";d\r\nhello\r\n0\r\n\r\n", "hello"),
  ])
  func `is put together of chunks`(chunks: String, expected: String) {
    #expect(body(of: reading("Transfer-Encoding: chunked", chunks)) == expected)
    #expect(body(of: reading("TRANSFER-ENCODING: CHUNKED", chunks)) == expected)
  }

  @Test(arguments: ["X: y\r\n", "X: y\r\nY: z\r\n", "Host: other\r\nX:\r\n"])
  func `may have a trailer, which is passed over`(_ trailer: String) {
    let reading = reading("Transfer-Encoding: chunked", "2\r\nhi\r\n0\r\n\(trailer)\r\n")

    let read = ReadRequest(method: "POST", fields: ["transfer-encoding: chunked"], body: "hi")
    #expect(reading == .requests([read]))
  }

  @Test func `ends before the request after it`() {
    let chunked = request("POST /a HTTP/1.1", ["Transfer-Encoding: chunked"])
    let text = chunked + "1\r\nx\r\n0\r\nT: t\r\n\r\n" + request("GET /b HTTP/1.1", ["H: x"])

    let requests = [
      ReadRequest(
        method: "POST", target: "/a", fields: ["transfer-encoding: chunked"], body: "x"),
      ReadRequest(target: "/b", fields: ["h: x"]),
    ]
    #expect(Reading(text) == .requests(requests))
  }
}

@Suite struct `A request that a parser refuses` {
  // RFC 9112 §3.
  @Test(arguments: [
    "GET/ HTTP/1.1", "GET\t/ HTTP/1.1", "GET /a b HTTP/1.1", "GET / http/1.1", "GET / HTTX/1.1",
    "GET / HTTP1.1", "GET / HTTP/x.1", " GET / HTTP/1.1", "GET / HTTP/1.1 x", "\u{0}GET / HTTP/1.1",
    "\u{16}\u{3}\u{1}\u{0}\u{C8}", "GET /\u{0} HTTP/1.1", "GET /\u{7f} HTTP/1.1",
    "GET /a\tb HTTP/1.1", "GET /?a\u{c}b HTTP/1.1", "GET /é HTTP/1.1", "GET /?é HTTP/1.1",
    "GET HTTP/1.1",
  ])
  func `has a malformed first line`(_ line: String) {
    let reading = Reading(request(line))

    // The parser reads the characters after the version as part of it.
    #expect(reading == .malformed || reading == .refused(.malformedRequest, status: 505))
  }

  // RFC 9112 §2.3: the name of the protocol is HTTP.
  @Test(arguments: ["GET / RTSP/1.0", "GET / ICE/1.0", "OPTIONS * RTSP/1.0", "SOURCE / ICE/1.0"])
  func `is of another protocol`(_ line: String) {
    #expect(Reading(request(line)) == .malformed)
  }

  // RFC 9110 §15.6.2.
  @Test(arguments: ["FOO", "GETX", "XYZ", "POSTPONE", "M-FOO", "Z"])
  func `has a method that nobody knows`(_ method: String) {
    let unknown = Reading.refused(.malformedRequest, status: 501)

    #expect(Reading(request("\(method) / HTTP/1.1")) == unknown)
  }

  // RFC 9113 §3.4.
  @Test func `is the preface of HTTP/2`() {
    let reading = Reading("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    #expect(reading == .refused(.malformedRequest, status: 505))
  }

  // RFC 9112 §5 and RFC 9110 §5.5.
  @Test(arguments: [
    "nocolon", "no colon", "X y: z", "X : z", "X\t: z", "X\u{0}: z", "X(: z", "X@: z", "Xé: z",
    "\"X\": z",
    "X: a\u{0}b", "X: a\u{1}b", "X: a\u{7f}b", "X: a\rb", "X: a\r", "X: a\nb",
  ])
  func `has a malformed field`(_ field: String) {
    #expect(Reading(request("GET / HTTP/1.1", [field])) == .malformed)
    #expect(Reading(request("GET / HTTP/1.1", ["Host: x", field, "Y: z"])) == .malformed)
  }

  // RFC 9112 §2.2.
  @Test(arguments: [" X: z", "\tX: z", " ", "  Host: y"])
  func `has blanks before its first field`(_ field: String) {
    #expect(Reading(request("GET / HTTP/1.1", [field, "Host: x"])) == .malformed)
  }

  // RFC 9112 §2.2 allows a server to take these; this one doesn't.
  @Test func `ends its fields with bare line feeds`() {
    #expect(Reading("GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n") == .malformed)
    #expect(Reading("GET / HTTP/1.1\nHost: x\nX: y\n\n") == .malformed)
  }

  // RFC 9110 §8.6.
  @Test(arguments: [
    "", " ", "x", "-1", "+1", "0x1", "1 1", "1,1", "1, 1", "1;", "1.0", "1e1", "one", "１", "1\u{0}",
  ])
  func `has a length that is no number`(_ length: String) {
    let field = "Content-Length: \(length)"

    #expect(Reading(request("POST / HTTP/1.1", [field]) + "x") == .malformed)
  }

  // RFC 9112 §6.3: two ways to say where a body ends are an attempt to smuggle a request.
  @Test(arguments: [
    ["Content-Length: 1", "Content-Length: 2"], ["Content-Length: 1", "Content-Length: 1"],
    ["Content-Length: 5", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Content-Length: 5"],
    ["Transfer-Encoding: chunked, chunked"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: gzip"],
  ])
  func `says twice where its body ends`(_ fields: [String]) {
    #expect(Reading(request("POST / HTTP/1.1", fields) + "0\r\n\r\n") == .malformed)
  }

  // RFC 9112 §6.3: where chunked is not the last coding nobody knows where the body ends.
  @Test(arguments: ["gzip", "identity", "chunked, gzip", "xchunked", "chunkedx", "chunked;q=1"])
  func `has a body without an end`(_ coding: String) {
    let field = "Transfer-Encoding: \(coding)"

    #expect(Reading(request("POST / HTTP/1.1", [field]) + "0\r\n\r\n") == .malformed)
  }

  // RFC 9112 §7.1.
  @Test(arguments: [
    "\r\n", "g\r\n", "zz\r\n", "-1\r\nx\r\n", "+1\r\nx\r\n", "0x1\r\nx\r\n", " 1\r\nx\r\n",
    "1\nx\r\n", "1\rx\r\n", "1\r\nxy\r\n", "1\r\nx\n", "1\r\nx1\r\ny\r\n", "1;a\nx\r\n",
    "1;\u{0}\r\nx\r\n", "0\r\nno colon\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\nX: a\u{0}\r\n\r\n",
    "0\r\nX: a\rb\r\n\r\n",
  ])
  func `has malformed chunks`(_ chunks: String) {
    let head = request("POST / HTTP/1.1", ["Transfer-Encoding: chunked"])

    #expect(Reading(head + chunks) == .malformed)
    #expect(Reading(head + "2\r\nok\r\n" + chunks) == .malformed)
  }

  @Test func `comes after one that was read`() {
    #expect(Reading(get("/") + "nonsense") == .malformed)
  }
}

@Suite struct `The limits of a parser` {
  private let tooLongHead = Reading.refused(.headTooLong, status: 431)
  private let tooLongBody = Reading.refused(.bodyTooLong, status: 413)

  /// A request whose head has this size.
  private func head(ofBytes count: Int, _ fields: String = "") -> String {
    let start = "POST / HTTP/1.1\r\n\(fields)X: "
    return start + String(repeating: "y", count: count - start.utf8.count - 4) + "\r\n\r\n"
  }

  /// The text byte by byte.
  private func bytes(_ text: String) -> [[UInt8]] { text.utf8.map { [$0] } }

  private func isRead(_ reading: Reading) -> Bool {
    if case .requests(let requests) = reading { requests.count == 1 } else { false }
  }

  @Test(arguments: [64, 100, 1_024, 16_384])
  func `are met by a head of as many bytes, and not by one more`(max: Int) {
    let (fits, tooLong) = (head(ofBytes: max), head(ofBytes: max + 1))

    #expect(isRead(Reading(fits, headBytesMax: max)))
    #expect(isRead(Reading(bytes(fits), headBytesMax: max)))
    #expect(Reading(tooLong, headBytesMax: max) == tooLongHead)
    #expect(Reading(bytes(tooLong), headBytesMax: max) == tooLongHead)
  }

  @Test func `are for a head without its body`() {
    let body = String(repeating: "b", count: 500)
    let text = head(ofBytes: 200, "Content-Length: 500\r\n") + body

    #expect(isRead(Reading(text, headBytesMax: 200)))
    #expect(isRead(Reading(bytes(text), headBytesMax: 200)))
  }

  @Test func `are for each request anew`() {
    let text = String(repeating: head(ofBytes: 200), count: 10)

    guard case .requests(let requests) = Reading(text, headBytesMax: 200) else {
      Issue.record("refused")
      return
    }
    #expect(requests.count == 10)
  }

  @Test(arguments: [
    String(repeating: "\r\n", count: 600), "GET /" + String(repeating: "a", count: 1_100),
    "GET / HTTP/1.1\r\n" + String(repeating: "a", count: 1_100),
    "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 200),
  ])
  func `end a head that does not end`(_ text: String) {
    #expect(Reading(text) == tooLongHead)
    #expect(Reading(bytes(text)) == tooLongHead)
  }

  @Test func `are met by a body of as many bytes, and not by one more`() {
    let body = String(repeating: "b", count: 1_024)
    let head = { (count: Int) in request("POST / HTTP/1.1", ["Content-Length: \(count)"]) }

    #expect(isRead(Reading(head(1_024) + body)))
    #expect(Reading(head(1_025) + body + "b") == tooLongBody)
  }

  // The parser does not wait for such a body.
  @Test(arguments: ["1025", "16385", "99999999999999999999", "18446744073709551617"])
  func `end a body when it is announced`(_ length: String) {
    let text = request("POST / HTTP/1.1", ["Content-Length: \(length)"])

    #expect(Reading(text) == tooLongBody)
    #expect(Reading(bytes(text)) == tooLongBody)
  }

  @Test func `are for all chunks of a body together`() {
    let head = request("POST / HTTP/1.1", ["Transfer-Encoding: chunked"])
    let chunk = "200\r\n" + String(repeating: "c", count: 512) + "\r\n"

    #expect(isRead(Reading(head + chunk + chunk + "0\r\n\r\n")))
    #expect(Reading(head + chunk + chunk + "1\r\n") == tooLongBody)
    #expect(Reading(head + chunk + "201\r\n") == tooLongBody)
    #expect(isRead(Reading(head + String(repeating: "1\r\nc\r\n", count: 1_024) + "0\r\n\r\n")))
  }

  @Test(arguments: ["401\r\n", "fffffffff\r\n", "fffffffffffffffff\r\n", "10000000000000000\r\n"])
  func `end a chunk when its size is read`(_ chunk: String) {
    let head = request("POST / HTTP/1.1", ["Transfer-Encoding: chunked"])

    #expect(Reading(head + chunk) == tooLongBody)
    #expect(Reading(bytes(head + chunk)) == tooLongBody)
  }

  // Both are bytes that are never kept, and could go on for ever.
  @Test(arguments: [
    "1;a=" + String(repeating: "b", count: 30_000),
    "0\r\nX: " + String(repeating: "b", count: 30_000),
    "0\r\n" + String(repeating: "A: b\r\n", count: 5_000),
    String(repeating: "1;" + String(repeating: "e", count: 1_000) + "\r\nx\r\n", count: 30),
  ])
  func `end what lies around chunks`(_ text: String) {
    let head = request("POST / HTTP/1.1", ["Transfer-Encoding: chunked"])

    #expect(Reading(head + text) == tooLongBody)
  }

  @Test func `are named in the refusal`() {
    let head = HTTPRefusal.headTooLong(bytesMax: 4_321).response(TransportOptions())
    let body = HTTPRefusal.bodyTooLong(bytesMax: 4_321).response(TransportOptions())

    #expect(String(decoding: head.body, as: UTF8.self).contains("4321"))
    #expect(String(decoding: body.body, as: UTF8.self).contains("4321"))
  }
}

/// A request is the same, however the network splits it.
@Suite struct `A request in pieces` {
  private static let chunked = request("POST /b HTTP/1.1", ["Transfer-Encoding: chunked"])
  private static let samples = [
    get("/a?b=c", "X: y", "Accept: */*", "Cookie: a=b; c=d"),
    request("POST /a HTTP/1.1", ["Host: x", "Content-Length: 11"]) + "hello\r\n\r\nyo",
    chunked + "4\r\nTime\r\n7;a=b\r\nrs run \r\nC\r\nby \r\n\r\nthem.\r\n0\r\nX: y\r\n\r\n",
    "\r\n" + get("/1") + get("/2") + "\r\n" + chunked + "0\r\n\r\n" + get("/3"),
    request("GET /folded HTTP/1.1", ["X: a\r\n b\r\n\tc", "Y: d"]),
    request("CONNECT www.example.com:80 HTTP/1.1"), request("OPTIONS * HTTP/1.0", []),
    get("/ws", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
    // Refused, each at another place.
    "FOO / HTTP/1.1\r\n\r\n", "GETX / HTTP/1.1\r\n\r\n", "GET / HTTX/1.1\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", get("/", "X y: z"), get("/", "X: a\u{0}b"),
    get("/", "X: a\nb"), request("POST / HTTP/1.1", ["Content-Length: 1 1"]),
    request("POST / HTTP/1.1", ["Content-Length: 4000"]),
    request("POST / HTTP/1.1", ["Content-Length: 1", "Transfer-Encoding: chunked"]),
    request("POST / HTTP/1.1", ["Transfer-Encoding: gzip"]),
    chunked + "2\r\nabc\r\n", chunked + "fff\r\n", get("/good") + "bad",
  ]

  /// Bytes that mean something to a parser, or are invalid.
  private static let marks: [UInt8] = [0, 10, 13, 32, 48, 58, 65, 128, 255]

  private func pieces(_ bytes: [UInt8], cutAt places: [Int]) -> [[UInt8]] {
    zip([0] + places, places + [bytes.count]).map { Array(bytes[$0..<$1]) }
  }

  @Test(arguments: samples)
  func `is read as in one, wherever it is cut`(_ text: String) {
    let bytes = Array(text.utf8)
    let whole = Reading([bytes])

    for place in 0...bytes.count {
      #expect(Reading(pieces(bytes, cutAt: [place])) == whole, "cut at \(place)")
    }
  }

  @Test(arguments: samples)
  func `is read as in one, byte by byte`(_ text: String) {
    let bytes = Array(text.utf8)

    #expect(Reading(bytes.map { [$0] }) == Reading([bytes]))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `is read as in one, whatever the pieces`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    for text in Self.samples {
      let bytes = Array(text.utf8)
      let places = (0..<8).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()

      #expect(Reading(pieces(bytes, cutAt: places)) == Reading([bytes]), "\(text) at \(places)")
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `is read as in one, whatever is wrong with it`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    for text in Self.samples {
      var bytes = Array(text.utf8)
      for _ in 0..<3 {
        let place = Int.random(in: bytes.indices, using: &random)
        let byte = Self.marks.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = byte
        case 1: bytes.insert(byte, at: place)
        default: bytes.remove(at: place)
        }
      }
      let places = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()

      let whole = Reading([bytes])
      let words = String(decoding: bytes, as: UTF8.self)
      #expect(Reading(bytes.map { [$0] }) == whole, "\(words)")
      #expect(Reading(pieces(bytes, cutAt: places)) == whole, "\(words) at \(places)")
    }
  }
}
