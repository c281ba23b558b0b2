import Foundation
import Testing

@testable import WebSocketTransport

/// An answer as a client reads it.
private struct ReadAnswer {
  let statusLine: String
  /// `Name: value`, in their order.
  let fields: [String]
  let body: String

  init(
    _ response: HTTPResponse, common: [HTTPHeader] = [], isHead: Bool = false, isLast: Bool = false
  ) throws {
    let bytes = HTTPReply.bytes(
      of: response, commonHeaders: common, isHead: isHead, isLast: isLast)
    let text = String(decoding: bytes, as: UTF8.self)
    let end = try #require(text.range(of: "\r\n\r\n"))
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    statusLine = lines[0]
    fields = Array(lines.dropFirst())
    body = String(text[end.upperBound...])
  }

  /// The values of a field, which has one at most in an answer.
  func values(_ name: String) -> [String] {
    fields.filter { $0.lowercased().hasPrefix("\(name.lowercased()): ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }
}

@Suite struct `An answer on the wire` {
  private func text(_ status: Int, _ body: String = "", headers: [HTTPHeader] = []) -> HTTPResponse
  {
    HTTPResponse(
      status: status, contentType: "text/plain", headers: headers, body: Array(body.utf8))
  }

  // RFC 9110 §15 and RFC 6585.
  @Test(arguments: [
    (200, "OK"), (201, "Created"), (202, "Accepted"), (204, "No Content"), (304, "Not Modified"),
    (400, "Bad Request"), (401, "Unauthorized"), (403, "Forbidden"), (404, "Not Found"),
    (405, "Method Not Allowed"), (408, "Request Timeout"), (409, "Conflict"),
    (411, "Length Required"), (412, "Precondition Failed"), (413, "Content Too Large"),
    (415, "Unsupported Media Type"), (422, "Unprocessable Content"), (426, "Upgrade Required"),
    (428, "Precondition Required"), (429, "Too Many Requests"),
    (431, "Request Header Fields Too Large"), (500, "Internal Server Error"),
    (501, "Not Implemented"), (503, "Service Unavailable"), (505, "HTTP Version Not Supported"),
    (507, "Insufficient Storage"),
  ])
  func `begins with its status`(status: Int, reason: String) throws {
    #expect(try ReadAnswer(text(status)).statusLine == "HTTP/1.1 \(status) \(reason)")
  }

  // RFC 9112 §4: the blank after the code is there, whatever follows it.
  @Test(arguments: [299, 418, 599])
  func `has any words for a status without a name`(_ status: Int) throws {
    #expect(try ReadAnswer(text(status)).statusLine.hasPrefix("HTTP/1.1 \(status) "))
  }

  @Test(arguments: ["", "x", "hello\r\n", "\r\n\r\n", "é", String(repeating: "y", count: 70_000)])
  func `says what its body is and how long, in bytes`(_ body: String) throws {
    let answer = try ReadAnswer(text(200, body))

    #expect(answer.values("Content-Type") == ["text/plain"])
    #expect(answer.values("Content-Length") == ["\(body.utf8.count)"])
    #expect(answer.body == body)
  }

  // RFC 9110 §9.3.2: as long as the answer to GET, and without its body.
  @Test func `to HEAD is the head alone`() throws {
    let response = text(200, "hello", headers: [HTTPHeader("ETag", "\"1\"")])
    let get = try ReadAnswer(response)
    let head = try ReadAnswer(response, isHead: true)

    #expect(head.body == "")
    #expect(head.values("Content-Length") == ["5"])
    #expect(head.values("ETag") == get.values("ETag"))
    #expect(head.statusLine == get.statusLine)
  }

  // RFC 9112 §6.3 and RFC 9110 §8.6: these have no body, and 1xx and 204 no length.
  @Test(arguments: [100, 101, 199, 204, 304])
  func `has no body where none may be`(_ status: Int) throws {
    let answer = try ReadAnswer(text(status, "hello", headers: [HTTPHeader("ETag", "\"1\"")]))

    #expect(answer.body == "")
    #expect(answer.values("Content-Length") == [])
    #expect(answer.values("Content-Type") == [])
    #expect(answer.values("ETag") == ["\"1\""])
  }

  // RFC 9112 §9.6.
  @Test func `says when it is the last`() throws {
    #expect(try ReadAnswer(text(200), isLast: true).values("Connection") == ["close"])
    #expect(try ReadAnswer(text(204), isLast: true).values("Connection") == ["close"])
    #expect(try ReadAnswer(text(200), isLast: false).values("Connection") == [])
  }

  @Test func `has its own headers, in their order, then those of all`() throws {
    let own = [HTTPHeader("B", "1"), HTTPHeader("A", "2"), HTTPHeader("B", "3")]
    let common = [HTTPHeader("C", "4"), HTTPHeader("D", "5")]

    let answer = try ReadAnswer(text(200, headers: own), common: common)

    #expect(Array(answer.fields.suffix(5)) == ["B: 1", "A: 2", "B: 3", "C: 4", "D: 5"])
  }

  @Test func `has none of those of all that it says itself`() throws {
    let common = [HTTPHeader("Cache-Control", "max-age=60"), HTTPHeader("X", "y")]

    let answer = try ReadAnswer(
      text(200, headers: [HTTPHeader("cache-control", "no-store")]), common: common)

    #expect(answer.values("Cache-Control") == ["no-store"])
    #expect(answer.values("X") == ["y"])
  }

  // RFC 9112 §11.1: response splitting.
  @Test(arguments: [
    "a\r\nSet-Cookie: b", "a\nSet-Cookie: b", "a\rSet-Cookie: b", "\r\n\r\nSet-Cookie: b",
    "a\n\r\nSet-Cookie: b",
  ])
  func `has no header or body that came by a value`(_ value: String) throws {
    let header = HTTPHeader("X", value)
    let own = try ReadAnswer(text(200, "body", headers: [header]))
    let common = try ReadAnswer(text(200, "body"), common: [header])

    for answer in [own, common] {
      #expect(answer.values("Set-Cookie") == [])
      #expect(answer.values("X").count == 1)
      #expect(answer.values("X").allSatisfy { !$0.contains { $0.isNewline } })
      #expect(answer.body == "body")
    }
  }

  // RFC 9110 §5.6.7: a fixed form, in Greenwich's time, of a day of the week that fits.
  @Test func `says when it was made`() throws {
    let before = time(nil)
    let dates = try ReadAnswer(text(200)).values("Date")
    let after = time(nil)

    try #require(dates.count == 1)
    let form = DateFormatter()
    form.locale = Locale(identifier: "en_US_POSIX")
    form.timeZone = TimeZone(secondsFromGMT: 0)
    form.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let read = try #require(form.date(from: dates[0]))
    #expect((before...after).contains(Int(read.timeIntervalSince1970)))
    #expect(form.string(from: read) == dates[0])
  }
}

@Suite struct `The transport's own answers` {
  private func values(_ name: String, in response: HTTPResponse) -> [String] {
    response.headers.filter { $0.name == name }.map(\.value)
  }

  private func words(_ response: HTTPResponse) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  @Test func `are a line of text that nobody stores`() {
    let answer = HTTPReply.plain(404, "There is nothing.", [HTTPHeader("Allow", "GET")])

    #expect(answer.status == 404)
    #expect(answer.contentType == "text/plain; charset=utf-8")
    #expect(words(answer) == "There is nothing.\n")
    #expect(
      answer.headers == [HTTPHeader("Allow", "GET"), HTTPHeader("Cache-Control", "no-store")])
  }

  // RFC 9110 §10.2.1.
  @Test func `say which methods are known`() {
    for status in [405, 501] {
      let answer = HTTPReply.unknownMethod(status)

      #expect(answer.status == status)
      #expect(values("Allow", in: answer) == ["GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"])
    }
  }

  // RFC 9110 §9.3.7.
  @Test func `say what may be asked, and nothing else`() {
    let answer = HTTPReply.allowing(["GET", "HEAD"])

    #expect(answer.status == 204)
    #expect(values("Allow", in: answer) == ["GET, HEAD"])
    #expect(answer.body.isEmpty)
  }

  // RFC 9110 §10.2.3: a number of seconds.
  @Test func `say when to come back`() {
    let answer = HTTPReply.busy("There are too many.")

    #expect(answer.status == 503)
    #expect(values("Retry-After", in: answer).compactMap(Int.init).count == 1)
    #expect(words(answer) == "There are too many.\n")
  }
}

@Suite struct `A refusal of a request` {
  private static let all: [(HTTPRefusal, TransportRefusal, Int)] = [
    (.malformed("why"), .malformedRequest, 400), (.version, .malformedRequest, 505),
    (.method, .malformedRequest, 501), (.coding, .malformedRequest, 501),
    (.headTooLong(bytesMax: 9), .headTooLong, 431), (.bodyTooLong(bytesMax: 9), .bodyTooLong, 413),
  ]

  @Test func `has a kind and a status`() {
    for (refusal, kind, status) in Self.all {
      #expect(refusal.kind == kind)
      #expect(refusal.response(TransportOptions()).status == status)
    }
  }

  @Test func `says something, which nobody stores`() {
    for (refusal, _, _) in Self.all {
      #expect(!refusal.response(TransportOptions()).body.isEmpty)
      #expect(
        refusal.response(TransportOptions()).headers.contains(
          HTTPHeader("Cache-Control", "no-store")))
    }
  }

  @Test func `says what is malformed`() {
    let body = HTTPRefusal.malformed("it has no version").response(TransportOptions()).body

    #expect(String(decoding: body, as: UTF8.self).contains("it has no version"))
  }

  // RFC 9110 §15.6.2 and §10.2.1.
  @Test func `of a method says which are known`() {
    #expect(HTTPRefusal.method.response(TransportOptions()).headers.contains { $0.name == "Allow" })
  }
}

@Suite struct `A refusal of a request for a service` {
  private static let all: [(ServiceRefusal, Int, String)] = [
    (.unreadable("the query is not UTF-8"), 400, "The query is not UTF-8.\n"),
    (.bodyTooLong(bytesMax: 9), 413, "The body is over 9 bytes.\n"),
    (.stopping, 503, "The server is stopping.\n"),
  ]

  @Test func `is a sentence where the service has no format`() {
    for (refusal, status, words) in Self.all {
      let response = TransportOptions().serviceRefusal(refusal)

      #expect(response.status == status && refusal.status == status)
      #expect(String(decoding: response.body, as: UTF8.self) == words)
      #expect(response.headers.contains(HTTPHeader("Cache-Control", "no-store")))
    }
  }

  @Test func `of a long body is in the format of the service`() {
    var options = TransportOptions()
    options.serviceRefusal = { HTTPResponse(status: $0.status, body: Array("{}".utf8)) }

    let response = HTTPRefusal.bodyTooLong(bytesMax: 9).response(options)

    #expect(response == HTTPResponse(status: 413, body: Array("{}".utf8)))
  }
}
