import Testing

@testable import WebSocketTransport

@Suite struct `The files of the page` {
  private let page = StaticFile(
    contentType: "text/html; charset=utf-8", body: Array("<p>".utf8), entityTag: "\"abc\"")
  private let script = StaticFile(
    contentType: "text/javascript", body: Array("1".utf8), entityTag: "\"def\"")

  private func answer(
    _ path: String, method: String = "GET", _ fields: String...
  ) throws -> HTTPResponse {
    let text = request("\(method) \(path) HTTP/1.1", ["Host: x"] + fields)
    let head = try #require(try head(of: text))
    return StaticFiles.answer(
      head, segments: try #require(head.segments),
      files: ["/index.html": page, "/client/main.js": script])
  }

  private func value(_ name: String, in response: HTTPResponse) -> String? {
    response.headers.first { $0.name == name }?.value
  }

  @Test(arguments: ["/", "/index.html", "/?a=b", "/index%2Ehtml"])
  func `begin with the page itself`(_ path: String) throws {
    let answer = try answer(path)

    #expect(answer.status == 200)
    #expect(answer.body == page.body)
    #expect(answer.contentType == page.contentType)
  }

  @Test func `are found at their paths`() throws {
    #expect(try answer("/client/main.js").body == script.body)
    #expect(try answer("/%63lient/main%2ejs").body == script.body)
  }

  @Test(arguments: [
    "/other", "/index", "/index.html/", "//index.html", "//", "/client", "/client/", "/main.js",
    "/INDEX.html", "/client%2Fmain.js", "/%2Findex.html", "/client/../index.html", "/./index.html",
    "/../index.html", "/index.html%00", "/client//main.js", "/client/main.js%20",
    "/client\\main.js",
  ])
  func `are nowhere else`(_ path: String) throws {
    #expect(try answer(path).status == 404)
  }

  // RFC 9110 §9.3.2: the connection leaves out the body, and needs its length.
  @Test func `are read by HEAD`() throws {
    #expect(try answer("/", method: "HEAD") == answer("/"))
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
  func `are read only`(_ method: String) throws {
    let answer = try answer("/", method: method)

    #expect(answer.status == 405)
    #expect(value("Allow", in: answer) == "GET, HEAD")
  }

  @Test func `say what may be asked of them`() throws {
    let answer = try answer("/", method: "OPTIONS")

    #expect(answer.status == 204)
    #expect(value("Allow", in: answer) == "GET, HEAD, OPTIONS")
  }

  @Test(arguments: ["GET", "HEAD", "POST", "OPTIONS"])
  func `are not there by any method where there is none`(_ method: String) throws {
    #expect(try answer("/other", method: method).status == 404)
  }

  // RFC 9110 §8.8.3: with an entity tag a client can revalidate its copy.
  @Test func `are kept by their tag, after asking`() throws {
    let answer = try answer("/")

    #expect(value("ETag", in: answer) == "\"abc\"")
    #expect(value("Cache-Control", in: answer) == "no-cache")
  }

  // RFC 9110 §13.1.2: compared weakly.
  @Test(arguments: [
    "\"abc\"", "W/\"abc\"", "*", "\"x\", \"abc\"", "\"abc\", \"x\"", "\"x\",W/\"abc\"",
  ])
  func `are not sent to a client that has them`(_ tags: String) throws {
    for method in ["GET", "HEAD"] {
      let answer = try answer("/", method: method, "If-None-Match: \(tags)")

      #expect(answer.status == 304)
      #expect(answer.body.isEmpty)
      // RFC 9110 §15.4.5: as in the answer with 200.
      #expect(value("ETag", in: answer) == "\"abc\"")
      #expect(value("Cache-Control", in: answer) == "no-cache")
    }
  }

  @Test(arguments: ["\"x\"", "\"ABC\"", "abc", "\"abc", "w/\"abc\"", "W/\"x\"", "\"def\"", ""])
  func `are sent to a client that has others`(_ tags: String) throws {
    let answer = try answer("/", "If-None-Match: \(tags)")

    #expect(answer.status == 200)
    #expect(answer.body == page.body)
  }

  // RFC 9110 §13.1.1: compared strongly.
  @Test(arguments: [
    ("\"abc\"", 200), ("*", 200), ("\"x\", \"abc\"", 200), ("\"x\"", 412), ("W/\"abc\"", 412),
    ("\"x\", \"y\"", 412), ("abc", 412),
  ])
  func `are sent if they are still those that were meant`(tags: String, status: Int) throws {
    #expect(try answer("/", "If-Match: \(tags)").status == status)
  }

  // RFC 9110 §13.2.2: If-Match is looked at first.
  @Test func `are told to be others before they are told to be known`() throws {
    #expect(try answer("/", "If-None-Match: \"abc\"", "If-Match: \"x\"").status == 412)
    #expect(try answer("/", "If-None-Match: \"abc\"", "If-Match: \"abc\"").status == 304)
  }

  // RFC 9110 §8.8.3: a tag may hold commas and stars.
  @Test func `are not meant by a star or a tag inside of another tag`() throws {
    #expect(try answer("/", "If-None-Match: \"x,*,y\"").status == 200)
    #expect(try answer("/", "If-Match: \"x,*,y\"").status == 412)
  }

  // RFC 9110 §14.2.
  @Test func `are sent as a whole`() throws {
    let answer = try answer("/", "Range: bytes=0-1")

    #expect(answer.status == 200)
    #expect(answer.body == page.body)
  }
}

@Suite struct `A file of the page` {
  @Test(arguments: [
    ("index.html", "text/html; charset=utf-8"), ("a.css", "text/css; charset=utf-8"),
    ("a.js", "text/javascript; charset=utf-8"), ("a.json", "application/json; charset=utf-8"),
    ("a.webmanifest", "application/manifest+json"), ("a.svg", "image/svg+xml"),
    ("a.png", "image/png"), ("a.ico", "image/x-icon"), ("a.txt", "text/plain; charset=utf-8"),
    ("a.woff2", "font/woff2"), ("a.mp3", "audio/mpeg"), ("a.wav", "audio/wav"),
    ("a.min.JS", "text/javascript; charset=utf-8"), ("client/a.css", "text/css; charset=utf-8"),
    ("a.xyz", "application/octet-stream"), ("a", "application/octet-stream"),
    ("", "application/octet-stream"),
  ])
  func `has the type that its name says`(name: String, type: String) {
    #expect(StaticFile(name: name, body: []).contentType == type)
  }

  @Test func `has a tag of its contents alone`() {
    let tag = { (name: String, body: String) in
      StaticFile(name: name, body: Array(body.utf8)).entityTag
    }

    #expect(tag("a.js", "1") == tag("b.css", "1"))
    #expect(tag("a.js", "1") != tag("a.js", "2"))
    #expect(tag("a.js", "ab") != tag("a.js", "ba"))
  }

  // RFC 9110 §8.8.3: visible characters without a quote, in quotes.
  @Test(arguments: ["", "a", "foobar", "hello\r\n"])
  func `has a tag that can go out`(_ body: String) {
    let tag = StaticFile(name: "a", body: Array(body.utf8)).entityTag

    #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count > 2)
    #expect(tag.dropFirst().dropLast().utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 })
  }
}
