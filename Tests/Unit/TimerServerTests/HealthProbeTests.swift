import Testing
import WebSocketTransport

@testable import TimerServer

@Suite struct `A health probe` {
  private func status(_ response: HTTPResponse) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  @Test(arguments: ["/healthz", "/readyz"], ["GET", "HEAD", "OPTIONS"])
  func `may use any Host`(_ path: String, _ method: String) {
    var bench = HubBench.make()

    for headers in [
      [:], ["host": ""], ["host": "backend_1:8080"], ["host": "[evil"], ["origin": "null"],
    ] {
      let response = bench.http(method, path, headers: headers)
      #expect(response.status == 200)
      #expect(response.headers.contains(HTTPHeader("Cache-Control", "no-store")))
      let isTold = response.headers.contains(HTTPHeader("Allow", "GET, HEAD, OPTIONS"))
      #expect(isTold == (method == "OPTIONS"))
    }
    #expect(bench.refusals.isEmpty)
  }

  @Test func `gets only the status under a foreign Host`() {
    var bench = HubBench.make()
    bench.damage("secret name.json")
    bench.trouble("the disk is full")
    let foreign = ["host": "rebound.example:8080"]

    let health = bench.http("GET", "/healthz", headers: foreign)
    let readiness = bench.http("GET", "/readyz", headers: foreign)

    #expect(status(health) == #"{"status":"ok"}"#)
    #expect(readiness.status == 503)
    #expect(status(readiness) == #"{"status":"unwritable"}"#)
    let own = bench.http("GET", "/healthz", headers: ["host": "localhost:8080"])
    #expect(status(own).contains("secret name") && status(own).contains("the disk is full"))
    #expect(bench.http("GET", "/metrics", headers: foreign).status == 403)
  }

  @Test func `gets 503 by OPTIONS too when the server is not ready`() {
    var bench = HubBench.make()
    bench.trouble("the disk is full")

    #expect(bench.http("OPTIONS", "/readyz").status == 503)
    #expect(bench.http("OPTIONS", "/healthz").status == 200)
  }

  @Test func `is answered, however many requests its address sends`() {
    var bench = HubBench.make { $0.httpRequests.perSecond = 2 }
    for _ in 1...50 { _ = bench.http("GET", "/api/timers") }

    let statuses = (1...50).map { _ in bench.http("GET", "/healthz").status }
    let ready = bench.http("HEAD", "/readyz").status

    #expect(Set(statuses) == [200])
    #expect(ready == 200)
    #expect(bench.http("GET", "/api/timers").status == 429)
  }

  @Test func `uses no request budget of its address`() {
    var bench = HubBench.make { $0.httpRequests.perSecond = 2 }
    for _ in 1...50 { _ = bench.http("GET", "/healthz") }

    #expect(bench.http("GET", "/api/timers").status == 200)
  }

  @Test func `gets only the status with an unknown token`() {
    var bench = HubBench.withTokens()
    bench.trouble("the disk is full")

    for answer in [
      bench.http("GET", "/healthz", headers: bearer("removed")),
      bench.http("HEAD", "/healthz", headers: ["authorization": "Bearer zzz"]),
      bench.http("GET", "/healthz", query: [QueryItem("token", "abc")]),
    ] {
      #expect(answer.status == 200)
      #expect(status(answer) == #"{"status":"ok"}"#)
    }
    #expect(bench.http("GET", "/metrics", headers: bearer("removed")).status == 401)
  }

  @Test func `gets ok when its address is rate limited`() {
    var bench = HubBench.withTokens()
    for _ in 1...1_500 { _ = bench.http("GET", "/api/timers", headers: bearer("wrong")) }
    #expect(bench.http("GET", "/api/timers", headers: bearer("wall")).status == 429)

    #expect(bench.http("GET", "/healthz", headers: bearer("wrong")).status == 200)
    #expect(bench.http("GET", "/healthz", headers: bearer("wall")).status == 200)
  }

  @Test func `can't try tokens without end`() {
    var bench = HubBench.withTokens { $0.httpRequests.perSecond = 2 }

    let statuses = (1...50).map { _ in
      bench.http("GET", "/healthz", headers: bearer("wrong")).status
    }
    let ready = bench.http("GET", "/readyz", headers: bearer("wrong")).status

    #expect(Set(statuses) == [200])
    #expect(status(bench.http("GET", "/healthz", headers: bearer("wall"))) == #"{"status":"ok"}"#)
    #expect(ready == 200)
  }
}
