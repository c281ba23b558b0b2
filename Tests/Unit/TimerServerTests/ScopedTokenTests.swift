import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `A token that is limited to a list of timers` {
  @Test func `lists its own`() {
    var bench = HubBench.withTokens()

    let listed = bench.ask(#"{"command":"list"}"#, token: "guest").timers

    #expect(listed.map { $0.text("timer") } == ["kitchen", "kitchen 2"])
    let response = bench.http("GET", "/api/timers", headers: bearer("guest"))
    #expect(Message(response.body).timers.count == 2)
  }

  @Test func `changes its own`() {
    var bench = HubBench.withTokens()

    #expect(bench.ask(#"{"command":"pause","timer":"kitchen"}"#, token: "cook").isOK == true)
    #expect(bench.ask(#"{"command":"start","timer":"tea"}"#, token: "cook").isOK == true)
    #expect(bench.ask(#"{"command":"start","timer":"kitchen new"}"#, token: "cook").isOK == true)
  }

  @Test(arguments: [
    #"{"command":"get","timer":"stage"}"#, #"{"command":"get","timer":"nothing"}"#,
    #"{"command":"pause","timer":"stage"}"#,
    #"{"command":"pause","timer":"stage","ifRevision":99}"#,
    #"{"command":"remove","timer":"stage"}"#, #"{"command":"start","timer":"te"}"#,
    #"{"command":"start"}"#, #"{"command":"subscribe","timer":"stage"}"#,
    #"{"command":"subscribe","timers":["kitchen","stage"]}"#,
  ])
  func `neither sees nor changes another`(_ json: String) {
    var bench = HubBench.withTokens()

    let reply = bench.ask(json, token: "cook")

    #expect(reply.code == "forbidden")
    #expect(reply.timer == nil)
    #expect(
      bench.ask(#"{"command":"get","timer":"stage"}"#, token: "stage").timer?.status == "running")
  }

  @Test func `neither sees nor changes another over HTTP`() {
    var bench = HubBench.withTokens()

    #expect(bench.http("GET", "/api/timers/stage", headers: bearer("cook")).status == 403)
    #expect(bench.http("GET", "/api/timers/nothing", headers: bearer("cook")).status == 403)
    #expect(bench.http("POST", "/api/timers/stage/pause", headers: bearer("cook")).status == 403)
    #expect(bench.http("DELETE", "/api/timers/stage", headers: bearer("cook")).status == 403)
    #expect(bench.http("GET", "/metrics", headers: bearer("cook")).status == 403)
  }

  @Test func `is shown no other state beside an error`() {
    var bench = HubBench.withTokens()

    let reply = bench.ask(#"{"command":"pause","timer":"stage","oops":1}"#, token: "cook")

    #expect(reply.code == "badRequest")
    #expect(reply.timer == nil)
  }

  @Test func `finishes its own with finishAll`() {
    var bench = HubBench.withTokens()

    let reply = bench.ask(#"{"command":"finishAll"}"#, token: "cook")

    #expect(reply.timers.map { $0.text("timer") } == ["kitchen", "kitchen 2"])
    #expect(
      bench.ask(#"{"command":"get","timer":"stage"}"#, token: "stage").timer?.status == "running")
  }

  @Test func `receives its own timers with a subscription to all`() {
    var bench = HubBench.withTokens()
    let connection = bench.connect(token: "guest", [QueryItem("timer", "*")])

    #expect(bench.heard(by: connection) == ["hello", "subscribed kitchen 300 kitchen 2 300"])
    bench.advance(1)
    #expect(bench.heard(by: connection) == ["tick kitchen 299.25 kitchen 2 299.25"])
    _ = bench.ask(#"{"command":"pause","timer":"stage"}"#, token: "stage")
    _ = bench.ask(#"{"command":"remove","timer":"stage"}"#, token: "stage")
    #expect(bench.heard(by: connection) == [])
    _ = bench.ask(#"{"command":"pause","timer":"kitchen"}"#, token: "stage")
    _ = bench.ask(#"{"command":"remove","timer":"kitchen"}"#, token: "stage")
    #expect(bench.heard(by: connection) == ["paused kitchen 299", "removed kitchen"])
  }

  @Test func `gets no tick when none of its own runs`() {
    var bench = HubBench.withTokens(TokenTable([.make("stage"), .make("tea", timers: ["tea"])]))
    let connection = bench.connect(token: "tea", [QueryItem("timer", "*")])

    bench.advance(3)

    #expect(bench.heard(by: connection) == ["hello", "subscribed"])
  }

  @Test func `shares what is built with others of the same list`() {
    var bench = HubBench.withTokens()
    _ = bench.connect(token: "guest", [QueryItem("timer", "*")])
    _ = bench.connect(token: "guest", [QueryItem("timer", "*")])
    let before = bench.hub.counters.broadcasts

    bench.advance(1)

    #expect(bench.hub.counters.broadcasts == before + 1)
  }

  @Test func `learns nothing by the name of another's request`() {
    var bench = HubBench.withTokens()
    _ = bench.ask(#"{"command":"finishAll","requestId":"r"}"#, token: "stage")

    let reply = bench.ask(#"{"command":"finishAll","requestId":"r"}"#, token: "cook")

    // All timers are finished by then, and only the token that sent the request gets its result.
    #expect(reply.isOK == true)
    #expect(reply.timers.isEmpty)
  }

  @Test func `may unsubscribe from anything`() {
    var bench = HubBench.withTokens()

    #expect(bench.ask(#"{"command":"unsubscribe","timer":"stage"}"#, token: "guest").isOK == true)
  }
}
