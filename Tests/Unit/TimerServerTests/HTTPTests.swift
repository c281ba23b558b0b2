import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `HTTP` {
  private func started() -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    return bench
  }

  private func header(_ name: String, _ response: HTTPResponse) -> String? {
    response.headers.first { $0.name == name }?.value
  }

  @Test func `lists timers`() {
    var bench = started()

    let response = bench.http("GET", "/api/timers")

    #expect(response.status == 200)
    #expect(response.contentType.hasPrefix("application/json"))
    #expect(Message(response.body).timers.map { $0.text("timer") } == ["tea"])
  }

  @Test func `shows one timer, tagged with its history and revision`() throws {
    var bench = started()

    let response = bench.http("GET", "/api/timers/tea")

    let state = try #require(Message(response.body).timer)
    #expect(response.status == 200)
    #expect(state.time == 300)
    let revision = try #require(state.revision)
    #expect(header("ETag", response) == "\"\(bench.hub.history):\(revision)\"")
  }

  @Test func `carries out a command with its fields`() {
    var bench = HubBench.make()

    let response = bench.http(
      "POST", "/api/timers/tea/start", body: #"{"duration":90.5,"title":"Tea"}"#)

    let reply = Message(response.body)
    #expect(response.status == 200)
    #expect(reply.isOK == true)
    #expect(reply.timer?.time == 90.5)
    #expect(reply.timer?.text("title") == "Tea")
  }

  @Test func `carries out every command by its name`() {
    var bench = HubBench.make()
    let commands = [
      ("start", #"{"duration":300}"#), ("pause", ""), ("resume", ""),
      ("addRemainingTime", #"{"seconds":5}"#), ("update", #"{"title":"x"}"#), ("finish", ""),
      ("reset", ""), ("start", #"{"type":"stopwatch"}"#), ("addElapsedTime", #"{"seconds":5}"#),
      ("lap", ""), ("message", #"{"text":"x"}"#), ("signal", #"{"signal":"flash"}"#),
      ("get", ""), ("remove", ""),
    ]

    let statuses = commands.map { bench.http("POST", "/api/timers/tea/\($0)", body: $1).status }

    #expect(statuses == commands.map { _ in 200 })
  }

  @Test func `forgets a timer by DELETE`() {
    var bench = started()

    let response = bench.http("DELETE", "/api/timers/tea")

    #expect(response.status == 200)
    #expect(bench.http("GET", "/api/timers/tea").status == 404)
  }

  @Test func `waits for the disk with a change`() {
    var bench = HubBench.make()

    let id = bench.request("POST", "/api/timers/tea/start")
    let early = bench.responses[id]
    bench.store()

    #expect(early == nil)
    #expect(bench.responses[id]?.status == 200)
  }

  @Test(arguments: [
    ("GET", "/api/timers/rice", "", 404, "unknownTimer"),
    ("DELETE", "/api/timers/rice", "", 404, "unknownTimer"),
    ("POST", "/api/timers/rice/update", #"{"title":"x"}"#, 404, "unknownTimer"),
    ("POST", "/api/timers/rice/pause", "", 409, "timerHasNotStarted"),
    ("POST", "/api/timers/tea/resume", "", 409, "timerHasNotPaused"),
    ("POST", "/api/timers/tea/start", "", 409, "timerAlreadyStarted"),
    ("POST", "/api/timers/tea/addElapsedTime", #"{"seconds":1}"#, 409, "invalidTimerType"),
    ("POST", "/api/timers/tea/addRemainingTime", #"{"seconds":-999}"#, 400, "outOfRange"),
    ("POST", "/api/timers/tea/start", #"{"duration":0}"#, 400, "outOfRange"),
    ("POST", "/api/timers/tea/start", "duration=5", 400, "badRequest"),
    ("POST", "/api/timers/tea/start", #"{"durration":5}"#, 400, "badRequest"),
    ("POST", "/api/timers/tea/start", #"{"timer":"rice"}"#, 400, "badRequest"),
    ("POST", "/api/timers/tea/fly", "", 400, "unknownCommand"),
    ("POST", "/api/timers/*/pause", "", 400, "badRequest"),
    ("POST", "/api/timers/tea/subscribe", "", 400, "badRequest"),
  ])
  func `refuses with the code's status`(
    _ method: String, _ path: String, _ body: String, _ status: Int, _ code: String
  ) {
    var bench = started()

    let response = bench.http(method, path, body: body)

    #expect(response.status == status)
    #expect(Message(response.body).code == code)
  }

  @Test func `refuses with 507 what can't be stored`() {
    var bench = HubBench.make()
    let id = bench.request("POST", "/api/timers/tea/start")

    bench.failStore()

    #expect(bench.responses[id]?.status == 507)
  }

  @Test func `refuses with 429 one timer too many`() {
    var bench = HubBench.make(timersMax: 0)

    #expect(bench.http("POST", "/api/timers/tea/start").status == 429)
  }

  @Test func `refuses with 403 a change by the role view`() {
    var bench = HubBench.make(role: .view)

    #expect(bench.http("POST", "/api/timers/tea/start").status == 403)
    #expect(bench.http("GET", "/api/timers").status == 200)
  }

  @Test(arguments: [
    ("POST", "/api/timers", "GET, HEAD"), ("PUT", "/api/timers/tea", "GET, HEAD, DELETE"),
    ("POST", "/api/timers/tea", "GET, HEAD, DELETE"), ("POST", "/healthz", "GET, HEAD"),
    ("DELETE", "/metrics", "GET, HEAD"), ("PUT", "/readyz", "GET, HEAD"),
    ("OPTIONS", "/metrics", "GET, HEAD"),
  ])
  func `refuses with 405 another method, with the allowed ones`(
    _ method: String, _ path: String, _ allow: String
  ) {
    var bench = started()

    let response = bench.http(method, path)

    #expect(response.status == 405)
    #expect(header("Allow", response) == allow)
    #expect(Message(response.body).code == "methodNotAllowed")
    #expect(bench.http("GET", "/api/timers/tea").status == 200)
  }

  @Test func `makes no change by GET`() {
    var bench = started()

    let response = bench.http("GET", "/api/timers/tea/pause")

    #expect(response.status >= 400)
    #expect(bench.pendingWrites.isEmpty)
    #expect(Message(bench.http("GET", "/api/timers/tea").body).timer?.status == "running")
  }

  @Test func `knows names with slashes`() {
    var bench = HubBench.make()

    let started = bench.http("POST", "/api/timers/a/b/start", body: #"{"duration":5}"#)
    let read = bench.http("GET", "/api/timers/a/b")
    let removed = bench.http("DELETE", "/api/timers/a/b")

    #expect([started, read, removed].map(\.status) == [200, 200, 200])
    #expect(Message(read.body).timer?.text("timer") == "a/b")
  }

  @Test(arguments: [
    ("/api", "notFound"), ("/api/timer", "notFound"), ("/healthz/x", "notFound"),
    ("/api/timers/tea/start/now", "unknownTimer"),
  ])
  func `has no other paths`(_ path: String, _ code: String) {
    var bench = started()

    let response = bench.http("GET", path)

    #expect(response.status == 404)
    #expect(Message(response.body).code == code)
  }

  @Test func `makes a change on condition of a revision`() throws {
    var bench = started()
    let revision = try #require(header("ETag", bench.http("GET", "/api/timers/tea")))

    let first = bench.http("POST", "/api/timers/tea/pause", headers: ["if-match": revision])
    let second = bench.http("POST", "/api/timers/tea/resume", headers: ["if-match": revision])

    #expect(first.status == 200)
    #expect(second.status == 409)
    #expect(Message(second.body).code == "revisionMismatch")
    #expect(header("ETag", second) == header("ETag", first))
  }

  @Test(arguments: ["12", "\"x\"", "\"\"", "tea", "\"1\", \"2\""])
  func `refuses a condition that is no revision`(_ tag: String) {
    var bench = started()

    let response = bench.http("POST", "/api/timers/tea/pause", headers: ["if-match": tag])

    #expect(response.status == 400)
  }

  @Test func `accepts a revision alone as a condition`() throws {
    var bench = started()
    let revision = try #require(Message(bench.http("GET", "/api/timers/tea").body).timer?.revision)

    let made = bench.http(
      "POST", "/api/timers/tea/pause", headers: ["if-match": "\"\(revision)\""])

    #expect(made.status == 200)
  }

  @Test func `refuses a condition of another history, whatever its revision`() throws {
    var bench = started()
    let revision = try #require(Message(bench.http("GET", "/api/timers/tea").body).timer?.revision)

    let refused = bench.http(
      "POST", "/api/timers/tea/pause", headers: ["if-match": "\"another:\(revision)\""])

    #expect(refused.status == 409)
    #expect(Message(refused.body).code == "revisionMismatch")
    #expect(Message(bench.http("GET", "/api/timers/tea").body).timer?.status == "running")
  }

  @Test func `starts a timer on condition that there is none`() {
    var bench = HubBench.make()
    let headers = ["if-none-match": "*"]

    let first = bench.http("POST", "/api/timers/tea/start", headers: headers)
    _ = bench.http("POST", "/api/timers/tea/finish")
    let second = bench.http("POST", "/api/timers/tea/start", headers: headers)

    #expect(first.status == 200)
    #expect(second.status == 409)
    #expect(Message(second.body).code == "revisionMismatch")
  }

  @Test(arguments: ["POST", "DELETE"])
  func `refuses to pass over what a change is not to find`(_ method: String) throws {
    var bench = started()
    let tag = try #require(header("ETag", bench.http("GET", "/api/timers/tea")))
    let path = method == "POST" ? "/api/timers/tea/pause" : "/api/timers/tea"

    let refused = bench.http(method, path, headers: ["if-none-match": tag])

    #expect(refused.status == 400)
    #expect(Message(refused.body).error?.text("message")?.contains("If-None-Match") == true)
    #expect(Message(bench.http("GET", "/api/timers/tea").body).timer?.status == "running")
  }

  @Test(arguments: ["/api/timers/tea", "/api/timers"])
  func `reads once more under the same key, and under no condition of a change`(_ path: String) {
    var bench = started()

    let read = bench.http("GET", path, headers: ["idempotency-key": "k-1"])
    let conditional = bench.http("GET", path, headers: ["if-match": "\"1\""])

    #expect(read.status == 200)
    #expect(conditional.status == 400)
    #expect(Message(conditional.body).error?.text("message")?.contains("\"If-Match\"") == true)
  }

  @Test func `makes a change once under its key`() {
    var bench = started()
    let headers = ["idempotency-key": "k-1"]
    let body = #"{"seconds":60}"#

    let first = bench.http("POST", "/api/timers/tea/addRemainingTime", headers: headers, body: body)
    let second = bench.http(
      "POST", "/api/timers/tea/addRemainingTime", headers: headers, body: body)

    #expect(first.status == 200)
    #expect(second.body == first.body)
    #expect(
      Message(bench.http("GET", "/api/timers/tea").body).timer?.number("addedTime") == 60)
  }

  @Test func `has nothing new of a state that stands still`() throws {
    var bench = started()
    let tag = try #require(header("ETag", bench.http("POST", "/api/timers/tea/pause")))

    let same = bench.http("GET", "/api/timers/tea", headers: ["if-none-match": tag])
    let weak = bench.http("GET", "/api/timers/tea", headers: ["if-none-match": "\"1\", W/\(tag)"])
    let other = bench.http("GET", "/api/timers/tea", headers: ["if-none-match": "\"999\""])
    let revision = tag.dropLast().split(separator: ":").last ?? ""
    let foreign = bench.http(
      "GET", "/api/timers/tea", headers: ["if-none-match": "\"another:\(revision)\""])
    let bare = bench.http(
      "GET", "/api/timers/tea", headers: ["if-none-match": "\"\(revision)\""])

    #expect(same.status == 304)
    #expect(same.body.isEmpty)
    #expect(header("ETag", same) == tag)
    #expect(weak.status == 304)
    #expect(other.status == 200)
    #expect(foreign.status == 200)
    #expect(bare.status == 304)
  }

  @Test func `has always something new of a timer that runs`() throws {
    var bench = started()
    let tag = try #require(header("ETag", bench.http("GET", "/api/timers/tea")))

    #expect(bench.http("GET", "/api/timers/tea", headers: ["if-none-match": tag]).status == 200)
  }

  @Test func `finishes all timers under the star`() {
    var bench = started()

    let response = bench.http("POST", "/api/timers/*/finishAll")

    #expect(response.status == 200)
    #expect(Message(response.body).timers.map(\.status) == ["finished"])
  }

  @Test func `answers by itself for its health and its figures`() {
    var bench = started()

    let health = bench.http("GET", "/healthz")
    let metrics = bench.http("GET", "/metrics")

    #expect(health.status == 200)
    #expect(Message(health.body).text("status") == "ok")
    #expect(metrics.status == 200)
    #expect(metrics.contentType.hasPrefix("text/plain"))
    let text = String(decoding: metrics.body, as: UTF8.self)
    #expect(text.contains("\ntimersync_timers 1\n"))
    #expect(text.contains("\ntimersync_timers_running 1\n"))
    #expect(text.hasSuffix("\n"))
  }

  @Test func `refuses changes by pages of other sites, and serves their reads`() {
    var bench = started()
    let headers = ["host": "localhost:8080", "origin": "http://evil.example"]

    #expect(bench.http("POST", "/api/timers/tea/pause", headers: headers).status == 403)
    #expect(bench.http("DELETE", "/api/timers/tea", headers: headers).status == 403)
    #expect(bench.http("GET", "/api/timers", headers: headers).status == 200)
    #expect(
      Message(bench.http("GET", "/api/timers/tea").body).timer?.status == "running")
  }

  @Test func `refuses a host that is not its own`() {
    var bench = started()

    let response = bench.http("GET", "/api/timers", headers: ["host": "evil.example"])

    #expect(response.status == 403)
    #expect(Message(response.body).code == "forbidden")
  }
}
