import Testing

@testable import WebSocketTransport

@Suite struct `A head` {
  // RFC 9112 §3.2.1.
  @Test func `has the path and the query of the RFC's example`() throws {
    let head = try #require(
      try head(of: request("GET /where?q=now HTTP/1.1", ["Host: www.example.org"])))

    #expect(head.method == "GET")
    #expect(head.path == Array("/where".utf8))
    #expect(head.query == Array("q=now".utf8))
    #expect(head.isVersion11)
    #expect(head.headers == ["host": "www.example.org"])
  }

  // RFC 3986 §3.4: the query begins at the first question mark, and may hold more of them.
  @Test(arguments: [
    ("/", "/", ""), ("/?", "/", ""), ("/a?", "/a", ""), ("/a?b?c", "/a", "b?c"),
    ("/a?b/c", "/a", "b/c"), ("/?/", "/", "/"), ("/a%3Fb?c", "/a%3Fb", "c"),
    ("/a%2Fb+c", "/a%2Fb+c", ""), ("//a", "//a", ""), ("/../a/.", "/../a/.", ""),
  ])
  func `has a path and a query as they came`(target: String, path: String, query: String) throws {
    let head = try #require(try head(of: get(target)))

    #expect(head.path == Array(path.utf8))
    #expect(head.query == Array(query.utf8))
  }

  // RFC 9112 §3.2.2: a server must accept a whole URL, and must take the host from it. RFC 3986 §3: a
  // path may be empty, and then it is `/` (RFC 9112 §3.2.1).
  @Test(arguments: [
    (
      "http://www.example.org/pub/WWW/TheProject.html", "www.example.org",
      "/pub/WWW/TheProject.html", ""
    ),
    ("https://a.example/b?c=d", "a.example", "/b", "c=d"),
    ("HTTP://A.Example/", "A.Example", "/", ""),
    ("http://a.example:8080/b", "a.example:8080", "/b", ""),
    ("http://[::1]:80/b", "[::1]:80", "/b", ""),
    ("http://a.example", "a.example", "/", ""), ("https://a.example?b=c", "a.example", "/", "b=c"),
    ("http://a.example?b=/c", "a.example", "/", "b=/c"),
    ("http://a.example/?", "a.example", "/", ""),
  ])
  func `is read of a whole URL`(url: String, host: String, path: String, query: String) throws {
    let head = try #require(try head(of: request("GET \(url) HTTP/1.1", ["Host: other.example"])))

    #expect(head.headers["host"] == host)
    #expect(String(decoding: head.path, as: UTF8.self) == path)
    #expect(String(decoding: head.query, as: UTF8.self) == query)
  }

  // RFC 9112 §3.2.4.
  @Test func `may be about the server as a whole`() throws {
    let head = try #require(try head(of: request("OPTIONS * HTTP/1.1")))

    #expect(head.method == "OPTIONS")
    #expect(head.path == [UInt8(ascii: "*")])
    #expect(head.segments == nil)
  }

  // RFC 9112 §3.2.3.
  @Test func `may ask for a tunnel`() throws {
    let head = try #require(
      try head(of: request("CONNECT www.example.com:80 HTTP/1.1", ["Host: www.example.com"])))

    #expect(head.method == "CONNECT")
    #expect(head.headers["host"] == "www.example.com")
    #expect(!head.isKeptAlive)
  }

  @Test func `has lowercase names and values without blanks around them`() throws {
    let head = try #require(try head(of: get("/", "X-One:  a b \t", "x-TWO:", "Three:\tc\t ")))

    let expected = ["host": "show.example", "x-one": "a b", "x-two": "", "three": "c"]
    #expect(head.headers == expected)
  }

  // RFC 9110 §5.3.
  @Test func `joins fields of one name, in their order`() throws {
    let head = try #require(try head(of: get("/", "A: 1", "B: x", "a: 2", "A: 3,4")))

    #expect(head.headers["a"] == "1, 2, 3,4")
    #expect(head.headers["b"] == "x")
  }

  @Test(arguments: [
    "Host", "Origin", "Authorization", "Content-Type", "Sec-WebSocket-Key", "Sec-WebSocket-Version",
  ])
  func `is refused with two fields of which one can be meant only`(_ name: String) {
    let once = request("GET / HTTP/1.0", ["\(name): x"])
    let twice = request("GET / HTTP/1.0", ["\(name): x", "Y: z", "\(name.lowercased()): x"])

    #expect(refusedStatus(of: once) == nil)
    #expect(refusedStatus(of: twice) == 400)
  }

  // RFC 9112 §3.2: 400 to a request of HTTP/1.1 without a Host, and to any whose Host is wrong.
  @Test(arguments: [
    ("GET / HTTP/1.1", "X: y"), ("GET / HTTP/1.1", "Host: a b"), ("GET / HTTP/1.1", "Host: a\tb"),
    ("GET / HTTP/1.0", "Host: a b"), ("GET / HTTP/1.1", "Host: a\r\nHost: b"),
    ("GET / HTTP/1.0", "Host: a\r\nHost: a"), ("GET http://a/ HTTP/1.1", "X: y"),
  ])
  func `is refused without a host of one word`(line: String, field: String) {
    #expect(refusedStatus(of: request(line, [field])) == 400)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1", "Host: a"), ("GET / HTTP/1.1", "Host:"), ("GET / HTTP/1.1", "Host:  a "),
    ("GET / HTTP/1.1", "Host: [::1]:8080"), ("GET / HTTP/1.0", "X: y"),
  ])
  func `is taken with a host of one word, or an old one without`(line: String, field: String) {
    #expect(refusedStatus(of: request(line, [field])) == nil)
  }

  @Test(arguments: [("GET /", 400), ("GET / HTTP/0.9", 400), ("GET / HTTP/2.0", 505)])
  func `is of HTTP 1`(line: String, status: Int) {
    #expect(refusedStatus(of: request(line)) == status)
  }

  @Test func `tells HTTP 1.0 from 1.1`() throws {
    let old = try #require(try head(of: request("GET / HTTP/1.0")))
    let new = try #require(try head(of: request("GET / HTTP/1.1")))

    #expect(!old.isVersion11 && new.isVersion11)
  }

  // RFC 9112 §3.2.1: a target has no fragment.
  @Test(arguments: ["/#", "/a#b", "/a?b#c", "http://a/#b"])
  func `is refused with a fragment`(_ target: String) {
    #expect(refusedStatus(of: get(target)) == 400)
  }

  @Test func `is refused with a field that has no name`() {
    #expect(refusedStatus(of: get("/", ": x")) == 400)
    #expect(refusedStatus(of: get("/", "A: b", ":")) == 400)
  }

  @Test(arguments: ["chunked", "Chunked", "CHUNKED"])
  func `knows chunks`(_ coding: String) {
    let fields = ["Host: x", "Transfer-Encoding: \(coding)"]

    #expect(refusedStatus(of: request("POST / HTTP/1.1", fields)) == nil)
  }

  // RFC 9112 §6.1: 501 for a coding that is not known, and faulty framing for HTTP/1.0.
  @Test(arguments: [
    ("HTTP/1.1", "gzip, chunked", 501), ("HTTP/1.1", "x-other, chunked", 501),
    ("HTTP/1.0", "chunked", 400), ("HTTP/1.0", "gzip, chunked", 400),
  ])
  func `knows no other coding, and none for HTTP 1.0`(
    version: String, coding: String, status: Int
  ) {
    let fields = ["Host: x", "Transfer-Encoding: \(coding)"]

    #expect(refusedStatus(of: request("POST / \(version)", fields)) == status)
  }

  // RFC 9110 §5.5: bytes of 128 and up are opaque.
  @Test func `takes any bytes for a value, and shows those that are UTF-8`() throws {
    let parser = HTTPParser(headBytesMax: 100, bodyBytesMax: 100)
    var input = Array("GET / HTTP/1.0\r\nA: é\r\nB: ".utf8) + [0xe9] + Array("\r\n\r\n".utf8)
    parser.consume(from: &input)

    let head = try HTTPHead(parser)

    #expect(head.headers["a"] == "é")
    #expect(head.headers["b"] == "\u{fffd}")
  }

  @Test func `hands on the headers that the server asked for, and no others`() throws {
    let head = try #require(
      try head(
        of: get("/", "Origin: http://a", "Cookie: secret", "If-Match: \"1\"", "X-Other: y")))

    #expect(
      head.headersKept == ["host": "show.example", "origin": "http://a", "if-match": "\"1\""])
  }
}

@Suite struct `What a head says` {
  private func parsed(_ line: String, _ fields: String...) throws -> HTTPHead {
    try #require(try head(of: request(line, ["Host: x"] + fields)))
  }

  // RFC 9110 §5.6.1.
  @Test(arguments: [
    ("", []), (" ", []), (",", []), (" , ,", []), ("a", ["a"]), ("a, b", ["a", "b"]),
    ("a,b", ["a", "b"]), (",a,,b,", ["a", "b"]), ("\ta \t,\t b ", ["a", "b"]),
    ("A b, C", ["A b", "C"]),
  ])
  func `may be a list`(value: String, words: [String]) throws {
    #expect(try parsed("GET / HTTP/1.1", "X: \(value)").list("x") == words)
  }

  @Test func `is no list where there is none`() throws {
    #expect(try parsed("GET / HTTP/1.1").list("x") == [])
  }

  @Test func `is one list in several fields`() throws {
    #expect(try parsed("GET / HTTP/1.1", "X: a", "X: b, c").list("x") == ["a", "b", "c"])
  }

  // RFC 9112 §9.3.
  @Test(arguments: [
    ("GET / HTTP/1.1", "X: y", true), ("GET / HTTP/1.1", "Connection: keep-alive", true),
    ("GET / HTTP/1.1", "Connection: close", false), ("GET / HTTP/1.1", "Connection: CLOSE", false),
    ("GET / HTTP/1.1", "Connection: x, close", false),
    ("GET / HTTP/1.1", "Connection: closed", true),
    ("GET / HTTP/1.0", "X: y", false), ("GET / HTTP/1.0", "Connection: close", false),
    ("CONNECT a:80 HTTP/1.1", "X: y", false), ("POST / HTTP/1.1", "Content-Length: 0", true),
  ])
  func `is whether another request may come`(line: String, field: String, isKept: Bool) throws {
    #expect(try parsed(line, field).isKeptAlive == isKept)
  }

  // RFC 6455 §4.2.1: the value is compared without regard to case.
  @Test(arguments: [
    ("Upgrade: websocket", true), ("Upgrade: WebSocket", true), ("UPGRADE: h2c, websocket", true),
    ("Upgrade: websockets", false), ("Upgrade: h2c", false), ("Upgrade:", false), ("X: y", false),
    ("Connection: websocket", false),
  ])
  func `is whether a WebSocket is asked for`(field: String, isAsked: Bool) throws {
    #expect(try parsed("GET / HTTP/1.1", field).wantsWebSocket == isAsked)
  }

  // RFC 9110 §10.1.1: a server must ignore it from an HTTP/1.0 client.
  @Test(arguments: [
    ("HTTP/1.1", "Expect: 100-continue", true), ("HTTP/1.1", "expect: 100-Continue", true),
    ("HTTP/1.1", "Expect: 200-ok", false), ("HTTP/1.1", "X: 100-continue", false),
    ("HTTP/1.0", "Expect: 100-continue", false),
  ])
  func `is whether it waits for a word before the body`(
    version: String, field: String, isAwaited: Bool
  ) throws {
    #expect(try parsed("POST / \(version)", field).expectsContinue == isAwaited)
  }

  // RFC 3986 §3.3 and §2.4: a path is split first, and each segment is decoded once.
  @Test(
    arguments: [
      ("/", [""]), ("/api", ["api"]), ("/api/", ["api", ""]), ("//", ["", ""]),
      ("/api/timers/a%2Fb", ["api", "timers", "a/b"]), ("/a%2fb", ["a/b"]), ("/a+b", ["a+b"]),
      ("/a%20b/c", ["a b", "c"]), ("/a&b=c;d", ["a&b=c;d"]), ("/%C3%A9", ["é"]),
      ("/%2525", ["%25"]), ("/%2e%2e/..", ["..", ".."]), ("/%00", ["\u{0}"]),
      ("/a%3Fb?c", ["a?b"]),
    ] as [(String, [String])])
  func `is a path of segments`(target: String, segments: [String]) throws {
    #expect(try parsed("GET \(target) HTTP/1.1").segments == segments)
  }

  @Test(arguments: ["/%", "/%4", "/%zz", "/a/%ff", "/%C3/%A9", "/a/%/b", "ftp://a/b"])
  func `is no path that can't be decoded`(_ target: String) throws {
    #expect(try parsed("GET \(target) HTTP/1.1").segments == nil)
  }

  @Test(arguments: [
    ("/", ""), ("/api", "api"), ("/api/x", "api"), ("/%61pi/x", "api"), ("/api/%zz", "api"),
    ("/a%2Fb/c", "a/b"), ("//api", ""),
  ])
  func `begins with a segment`(target: String, segment: String) throws {
    #expect(try parsed("GET \(target) HTTP/1.1").firstSegment == segment)
  }

  @Test(arguments: ["/%zz/api", "/%ff", "/%"])
  func `begins with no segment that can't be decoded`(_ target: String) throws {
    #expect(try parsed("GET \(target) HTTP/1.1").firstSegment == nil)
  }
}

@Suite struct `Blanks` {
  // RFC 9110 §5.6.3: they are spaces and tabs, and nothing else.
  @Test(arguments: [
    ("", ""), (" ", ""), ("\t \t", ""), ("a", "a"), (" a", "a"), ("a\t", "a"), (" \ta b\t ", "a b"),
    ("\na\r", "\na\r"), ("\u{a0}a\u{a0}", "\u{a0}a\u{a0}"), ("\u{0} a \u{b}", "\u{0} a \u{b}"),
  ])
  func `are left out around a text`(text: String, expected: String) {
    #expect(blanksTrimmed(Array(text.utf8)[...]) == ArraySlice(expected.utf8))
  }
}
