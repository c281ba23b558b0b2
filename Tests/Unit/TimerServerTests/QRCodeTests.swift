import Testing
import TimerProtocol
import WebSocketTransport

@testable import TimerServer

@Suite struct `A QR code` {
  private func code(_ text: String) throws -> QRCode {
    let text = try #require(QRText(text))
    return try #require(QRCode(text))
  }

  @Test(arguments: [
    ("x", 21), ("https://timer.example/?timer=tea", 29),
    (String(repeating: "x", count: 1_024), 121),
  ])
  func `grows with its text`(_ text: String, _ width: Int) throws {
    #expect(try code(text).width == width)
  }

  @Test func `is a picture of one path on white, with four light modules around`() throws {
    let svg = String(decoding: try code("x").svg, as: UTF8.self)

    #expect(
      svg.hasPrefix(
        #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29" shape-rendering="crispEdges">"#
          + ##"<rect width="29" height="29" fill="#fff"/><path fill="#000" d="M4 4h7v1h-7z"##))
    #expect(svg.hasSuffix("z\"/></svg>"))
    #expect(svg.split(separator: "<path").count == 2)
  }

  @Test func `never has its text in it`() throws {
    #expect(!String(decoding: try code("secret").svg, as: UTF8.self).contains("secret"))
  }
}

@Suite struct `A request for a QR code` {
  private let body = #"{"text":"https://timer.example/?timer=tea&token=t"}"#

  @Test func `is answered by an image that must not be cached`() {
    var bench = HubBench.make()

    let response = bench.http("POST", "/api/qr", body: body)

    #expect(response.status == 200)
    #expect(response.contentType == "image/svg+xml")
    #expect(response.headers == [HTTPHeader("Cache-Control", "no-store")])
    #expect(response.body.starts(with: "<svg ".utf8))
    #expect(bench.pendingWrites.isEmpty)
  }

  @Test func `is written into no log`() {
    var bench = HubBench.make()
    let lines = bench.logged.count

    _ = bench.http("POST", "/api/qr", body: body)

    #expect(bench.logged.count == lines)
  }

  @Test(arguments: ["wall", "guest", "cook", "stage"])
  func `is served for the role view`(_ token: String) {
    var bench = HubBench.withTokens()

    #expect(bench.http("POST", "/api/qr", headers: bearer(token), body: body).status == 200)
  }

  @Test func `is refused without a valid token`() {
    var bench = HubBench.withTokens()

    let stranger = bench.http("POST", "/api/qr", body: body)

    #expect(stranger.status == 401)
    #expect(stranger.headers.contains(HTTPHeader("WWW-Authenticate", "Bearer")))
    #expect(bench.http("POST", "/api/qr", headers: bearer("nobody"), body: body).status == 401)
  }

  @Test(arguments: [["origin": "https://evil.example"], ["host": "evil.example"]])
  func `is refused from other sites`(_ headers: [String: String]) {
    var bench = HubBench.make()
    let all = ["host": "localhost:8080"].merging(headers) { $1 }

    #expect(bench.http("POST", "/api/qr", headers: all, body: body).status == 403)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"text":""}"#, #"{"text":5}"#, #"{"text":"x","id":1}"#, #"{"text":"a\nb"}"#,
    #"{"text":"\#(String(repeating: "x", count: 1_025))"}"#,
  ])
  func `makes sense`(_ body: String) {
    var bench = HubBench.make()

    let response = bench.http("POST", "/api/qr", body: body)

    #expect(response.status == 400)
    #expect(Message(response.body).code == "badRequest")
  }

  @Test(arguments: ["GET", "HEAD", "PUT", "DELETE"])
  func `goes by POST`(_ method: String) {
    var bench = HubBench.make { $0.allowsGet = true }

    let response = bench.http(method, "/api/qr", query: [QueryItem("text", "x")])

    #expect(response.status == 405)
    #expect(response.headers.contains(HTTPHeader("Allow", "POST")))
  }
}
