import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `A change by GET` {
  private func bench() -> HubBench { HubBench.withTokens { $0.allowsGet = true } }

  private func press(
    _ path: String, _ fields: [QueryItem] = [], token: String? = "stage",
    headers: [String: String] = [:], on bench: inout HubBench
  ) -> HTTPResponse {
    let token = token.map { [QueryItem("token", Token.secret($0))] } ?? []
    return bench.http("GET", "/api/timers/\(path)", query: fields + token, headers: headers)
  }

  @Test func `changes a timer`() {
    var bench = bench()

    let response = press(
      "tea/start",
      [
        QueryItem("duration", "90.5"), QueryItem("title", "Tea"), QueryItem("warnings", "60,10"),
        QueryItem("atZero", "finish"), QueryItem("force", "true"),
      ], on: &bench)

    #expect(response.status == 200)
    #expect(response.headers.contains(HTTPHeader("Cache-Control", "no-store")))
    let timer = Message(response.body).timer
    #expect(timer?.number("duration") == 90.5)
    #expect(timer?.text("title") == "Tea")
    #expect(timer?["warnings"] as? [Double] == [60, 10])
  }

  @Test func `sends the speaker a message`() {
    var bench = bench()

    let response = press("stage/message", [QueryItem("text", "Wrap up")], on: &bench)

    let message = Message(response.body).timer?["message"] as? [String: Any]
    #expect(message?["text"] as? String == "Wrap up")
  }

  @Test func `gives a signal, and keeps laps`() {
    var bench = bench()

    let flash = press("stage/signal", [QueryItem("signal", "flash")], on: &bench)
    _ = press("run/start", on: &bench)
    let lap = press("run/lap", on: &bench)

    #expect((Message(flash.body).timer?["signal"] as? [String: Any])?["kind"] as? String == "flash")
    #expect((Message(lap.body).timer?["laps"] as? [Double])?.count == 1)
  }

  @Test func `may bring its token by a header`() {
    var bench = bench()

    #expect(press("stage/pause", token: nil, headers: bearer("stage"), on: &bench).status == 200)
  }

  @Test func `finishes all`() {
    var bench = bench()

    #expect(Message(press("*/finishAll", on: &bench).body).timers.count == 3)
  }

  @Test func `needs the option`() {
    var bench = HubBench.withTokens()

    #expect(press("stage/pause", on: &bench).status == 404)
    #expect(
      bench.ask(#"{"command":"get","timer":"stage"}"#, token: "stage").timer?.status == "running")
  }

  @Test func `needs a token, though visitors without one may do everything`() {
    var bench = HubBench.withTokens(anonymous: .control) { $0.allowsGet = true }

    let response = press("stage/pause", token: nil, on: &bench)

    #expect(response.status == 401)
    #expect(response.headers.contains(HTTPHeader("Cache-Control", "no-store")))
    #expect(bench.ask(#"{"command":"get","timer":"stage"}"#).timer?.status == "running")
  }

  @Test func `needs a token, though none are set up`() {
    var bench = HubBench.make { $0.allowsGet = true }
    bench.ask(#"{"command":"start","timer":"stage"}"#)

    #expect(press("stage/pause", on: &bench).status == 401)
    #expect(bench.ask(#"{"command":"get","timer":"stage"}"#).timer?.status == "running")
  }

  @Test(arguments: [
    ("wall", 403), ("guest", 403), ("cook", 403), ("nobody", 401),
  ])
  func `needs the right token`(_ token: String, _ status: Int) {
    var bench = bench()

    #expect(press("stage/pause", token: token, on: &bench).status == status)
  }

  @Test(arguments: [
    ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"], ["sec-fetch-site": "?"],
    ["origin": "http://evil.example"], ["origin": "null"], ["host": "evil.example"],
  ])
  func `is refused from another site`(_ headers: [String: String]) {
    var bench = bench()
    let all = ["host": "localhost:8080"].merging(headers) { $1 }

    let response = press("stage/pause", headers: all, on: &bench)

    #expect(response.status == 403)
    #expect(
      bench.ask(#"{"command":"get","timer":"stage"}"#, token: "stage").timer?.status == "running")
  }

  @Test(arguments: [[:], ["sec-fetch-site": "none"], ["sec-fetch-site": "same-origin"]])
  func `is served from a bookmark, a device or the own page`(_ headers: [String: String]) {
    var bench = bench()

    #expect(press("stage/pause", headers: headers, on: &bench).status == 200)
  }

  @Test(arguments: [
    ["sec-purpose": "prefetch"], ["sec-purpose": "prefetch;prerender"],
    ["sec-purpose": "Prefetch; anonymous-client-ip"], ["sec-purpose": "something-new"],
    ["purpose": "prefetch"], ["purpose": "preview"], ["x-purpose": ": preview"],
    ["x-purpose": "prefetch"], ["x-moz": "prefetch"], ["purpose": "x, prerender"],
    ["sec-purpose": "prefetch", "sec-fetch-site": "none"],
  ])
  func `changes nothing in a prefetch of a browser`(_ headers: [String: String]) {
    var bench = bench()

    let response = press("stage/pause", headers: headers, on: &bench)

    #expect(response.status == 503)
    #expect(response.headers.contains(HTTPHeader("Cache-Control", "no-store")))
    #expect(bench.pendingWrites.isEmpty)
    #expect(
      bench.ask(#"{"command":"get","timer":"stage"}"#, token: "stage").timer?.status == "running")
    #expect(press("stage/pause", on: &bench).status == 200)
  }

  @Test(arguments: [
    ["sec-purpose": ""], ["purpose": "navigate"], ["x-moz": "1"], ["sec-fetch-dest": "document"],
  ])
  func `changes a timer when a person opens the URL`(_ headers: [String: String]) {
    var bench = bench()

    #expect(press("stage/pause", headers: headers, on: &bench).status == 200)
  }

  @Test func `allows prefetches of URLs that change nothing`() {
    var bench = bench()

    #expect(press("stage", headers: ["sec-purpose": "prefetch"], on: &bench).status == 200)
  }

  @Test func `changes once with one requestId, however often the URL is loaded`() {
    var bench = bench()
    let fields = [QueryItem("seconds", "60"), QueryItem("requestId", "r-1")]

    let pages = (1...3).map { _ in press("stage/addRemainingTime", fields, on: &bench).body }

    #expect(Set(pages).count == 1)
    #expect(Message(pages[0]).timer?.number("addedTime") == 60)
    let now = bench.ask(#"{"command":"get","timer":"stage"}"#, token: "stage").timer
    #expect(now?.number("addedTime") == 60)
  }

  @Test(arguments: [
    [QueryItem("seconds", "many")], [QueryItem("seconds", "")], [QueryItem("second", "1")],
    [QueryItem("seconds", "1"), QueryItem("seconds", "2")], [],
    [QueryItem("seconds", "1"), QueryItem("clamp", "yes")],
    [QueryItem("seconds", "1"), QueryItem("timer", "kitchen")],
    [QueryItem("seconds", "1"), QueryItem("command", "remove")],
  ])
  func `gets an error for a query that makes no sense`(_ fields: [QueryItem]) {
    var bench = bench()

    let response = press("stage/addRemainingTime", fields, on: &bench)

    #expect(response.status == 400)
    #expect(bench.pendingWrites.isEmpty)
  }

  @Test func `does nothing by HEAD`() {
    var bench = bench()

    let response = bench.http(
      "HEAD", "/api/timers/stage/pause", query: [QueryItem("token", "secret-stage")])

    #expect(response.status == 405)
    #expect(bench.pendingWrites.isEmpty)
  }

  @Test func `still reads timers`() {
    var bench = bench()

    #expect(press("stage", on: &bench).status == 200)
    #expect(bench.http("GET", "/api/timers", headers: bearer("wall")).status == 200)
  }
}
