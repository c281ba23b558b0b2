import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `A token that is removed` {
  private func connected(_ name: String, _ bench: inout HubBench) -> ConnectionID {
    let connection = bench.connect(token: name, [QueryItem("timer", "*")])
    _ = bench.heard(by: connection)
    return connection
  }

  @Test func `closes its connections, and no others`() {
    var bench = HubBench.withTokens()
    let first = connected("stage", &bench)
    let second = connected("stage", &bench)
    let other = connected("wall", &bench)

    bench.keep([.make("wall", .view)])

    #expect(bench.closeCodes == [first: .policyViolation, second: .policyViolation])
    bench.advance(1)
    #expect(bench.heard(by: first) == [])
    #expect(bench.heard(by: other).count == 1)
  }

  @Test func `is none where there never was one`() {
    var bench = HubBench.make()
    let connection = bench.connect()

    // Another file in the folder changed, and the file of tokens is still missing.
    bench.handle(.tokens(nil))

    #expect(bench.closeCodes == [:])
    #expect(bench.heard(by: connection) == ["hello"])
    bench.send(#"{"id":1,"command":"start","timer":"tea"}"#, from: connection)
    bench.store()
    #expect(bench.heard(by: connection) == ["ok 1"])
  }

  @Test func `is refused in new connections`() {
    var bench = HubBench.withTokens()
    bench.keep([.make("wall", .view)])

    #expect(bench.heard(by: bench.connect(token: "stage")) == ["hello", "unauthorized null"])
    #expect(bench.http("GET", "/api/timers", headers: bearer("stage")).status == 401)
  }

  @Test func `leaves a change that was made already`() {
    var bench = HubBench.withTokens()
    let connection = connected("stage", &bench)

    bench.send(#"{"command":"pause","timer":"stage"}"#, from: connection)
    bench.keep([.make("wall", .view)])
    bench.store()

    #expect(bench.heard(by: connection) == [])
    #expect(
      bench.ask(#"{"command":"get","timer":"stage"}"#, token: "wall").timer?.status == "paused")
  }

  @Test(arguments: [
    Token.make("stage", .view), Token.make("stage", timers: ["kitchen"]),
    Token.make("stage", until: 2_000_000_000), Token.make("stage-2"),
  ])
  func `is gone too when it comes back as another`(_ changed: Token) {
    var bench = HubBench.withTokens()
    let connection = connected("stage", &bench)

    bench.keep([changed])

    #expect(bench.closeCodes[connection] == .policyViolation)
  }

  @Test func `stays while others come and go`() {
    var bench = HubBench.withTokens()
    let connection = connected("stage", &bench)

    bench.keep([.make("new"), .make("stage")])

    #expect(bench.closeCodes[connection] == nil)
  }

  @Test func `closes connections that authenticated with it later`() {
    var bench = HubBench.withTokens(anonymous: .view)
    let connection = bench.connect()
    bench.send(#"{"command":"authenticate","token":"secret-stage"}"#, from: connection)

    bench.keep([])

    #expect(bench.closeCodes[connection] == .policyViolation)
  }

  @Test func `leaves visitors without access when it was the last, or its file is gone`() {
    var bench = HubBench.withTokens()

    bench.keep([])
    #expect(bench.ask(#"{"command":"list"}"#).code == "unauthorized")
    bench.handle(.tokens(nil))
    #expect(bench.ask(#"{"command":"list"}"#).code == "unauthorized")
  }
}

@Suite struct `The first token` {
  @Test func `closes connections of visitors that had the role control until then`() {
    var bench = HubBench.make { _ in }
    let connection = bench.connect()

    bench.keep([.make("stage")])

    #expect(bench.closeCodes[connection] == .policyViolation)
    #expect(bench.messages(to: bench.connect()).first?.text("role") == "none")
    #expect(bench.messages(to: bench.connect(token: "stage")).first?.text("role") == "control")
  }

  @Test func `leaves visitors connected where --anonymous is set`() {
    var bench = HubBench.make(role: .view)
    let connection = bench.connect()

    bench.keep([.make("stage")])

    #expect(bench.closeCodes[connection] == nil)
  }
}

@Suite struct `The expiry of a token` {
  @Test func `closes its connections when it comes`() {
    let end = HubBench.start + 60
    var bench = HubBench.withTokens(TokenTable([.make("guest", until: end), .make("stage")]))
    let guest = bench.connect(token: "guest")
    let other = bench.connect(token: "stage")

    bench.advance(59.9)
    #expect(bench.closeCodes.isEmpty)
    bench.advance(0.1)

    #expect(bench.closeCodes == [guest: .policyViolation])
    bench.advance(100)
    #expect(bench.closeCodes[other] == nil)
  }

  @Test func `takes effect for one token after the other`() {
    var bench = HubBench.withTokens(
      TokenTable([
        .make("late", until: HubBench.start + 20), .make("early", until: HubBench.start + 10),
      ]))
    let late = bench.connect(token: "late")
    let early = bench.connect(token: "early")

    bench.advance(10)
    #expect(bench.closeCodes == [early: .policyViolation])
    bench.advance(10)
    #expect(bench.closeCodes[late] == .policyViolation)
  }

  @Test func `takes effect though no deadline fired`() {
    var bench = HubBench.withTokens(TokenTable([.make("guest", until: HubBench.start + 10)]))
    let connection = bench.connect(token: "guest")
    _ = bench.heard(by: connection)

    bench.wait(10)
    bench.send(#"{"command":"list"}"#, from: connection)

    #expect(bench.heard(by: connection) == [])
    #expect(bench.closeCodes[connection] == .policyViolation)
  }

  @Test func `refuses new connections afterwards`() {
    var bench = HubBench.withTokens(TokenTable([.make("guest", until: HubBench.start + 10)]))
    bench.advance(10)

    #expect(bench.heard(by: bench.connect(token: "guest")) == ["hello", "unauthorized null"])
    #expect(bench.http("GET", "/api/timers", headers: bearer("guest")).status == 401)
  }
}
