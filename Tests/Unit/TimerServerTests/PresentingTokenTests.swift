import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `A token in a handshake` {
  private static let ways: [(String, Handshake)] = [
    ("header", Handshake(headers: bearer("stage"))),
    ("lowercase scheme", Handshake(headers: ["authorization": "bearer secret-stage"])),
    ("query", Handshake(query: [QueryItem("token", "secret-stage")])),
    ("subprotocol", Handshake(subprotocols: ["timersync.v1", "token.secret-stage"])),
  ]

  @Test(arguments: ways)
  func `gives its role`(_ way: (String, Handshake)) throws {
    var bench = HubBench.withTokens()

    let connection = bench.connect(way.1)

    let hello = try #require(bench.messages(to: connection).first)
    #expect(hello.text("role") == "control")
    #expect(bench.closeCodes[connection] == nil)
  }

  private static let wrongWays: [(String, Handshake)] = [
    ("header", Handshake(headers: ["authorization": "Bearer nothing"])),
    ("empty header", Handshake(headers: ["authorization": "Bearer"])),
    ("query", Handshake(query: [QueryItem("token", "nothing"), QueryItem("timer", "tea")])),
    ("empty query", Handshake(query: [QueryItem("token", "")])),
    ("subprotocol", Handshake(subprotocols: ["timersync.v1", "token.nothing"])),
    (
      "a digest",
      Handshake(query: [QueryItem("token", TokenDigest(of: "secret-stage")!.hexadecimal)])
    ),
    ("a name", Handshake(query: [QueryItem("token", "stage")])),
  ]

  @Test(arguments: wrongWays)
  func `that is wrong gets an error, and close code 1008`(_ way: (String, Handshake)) throws {
    var bench = HubBench.withTokens(anonymous: .control)

    let connection = bench.connect(way.1)

    let messages = bench.messages(to: connection)
    #expect(messages.map(\.description) == ["hello", "unauthorized null"])
    #expect(messages.first?.text("role") == "none")
    #expect(bench.closeCodes[connection] == .policyViolation)
  }

  @Test func `that is wrong opens nothing`() {
    var bench = HubBench.withTokens(anonymous: .control)
    let connection = bench.connect([QueryItem("token", "nothing"), QueryItem("timer", "stage")])
    _ = bench.heard(by: connection)

    bench.send(#"{"command":"pause","timer":"stage"}"#, from: connection)
    bench.store()
    bench.advance(5)

    #expect(bench.heard(by: connection) == [])
    #expect(bench.ask(#"{"command":"get","timer":"stage"}"#).timer?.status == "running")
  }

  @Test func `that belongs to another scheme is none`() {
    var bench = HubBench.withTokens(anonymous: .view)

    let connection = bench.connect(Handshake(headers: ["authorization": "Basic c2VjcmV0"]))

    #expect(bench.messages(to: connection).first?.text("role") == "view")
  }

  @Test func `is never in the log`() {
    var bench = HubBench.withTokens()

    _ = bench.connect(token: "stage")
    _ = bench.connect([QueryItem("token", "nothing-known")])
    let third = bench.connect()
    bench.send(#"{"command":"authenticate","token":"nothing-known"}"#, from: third)
    _ = bench.http("GET", "/api/timers", headers: ["authorization": "Bearer nothing-known"])

    #expect(!bench.logged.isEmpty)
    #expect(!bench.logged.contains { $0.contains("secret-") || $0.contains("nothing-known") })
  }
}

@Suite struct `The command authenticate` {
  @Test func `raises the role, at once`() {
    var bench = HubBench.withTokens()
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.send(#"{"id":1,"command":"pause","timer":"stage"}"#, from: connection)
    bench.send(#"{"id":2,"command":"authenticate","token":"secret-stage"}"#, from: connection)
    bench.send(#"{"id":3,"command":"pause","timer":"stage"}"#, from: connection)
    bench.store()

    let replies = bench.messages(to: connection)
    #expect(replies.map(\.description) == ["unauthorized 1", "ok 2", "ok 3"])
    #expect(replies[1].text("role") == "control")
  }

  @Test func `is answered in its turn`() {
    var bench = HubBench.withTokens(anonymous: .control)
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.send(#"{"id":1,"command":"pause","timer":"stage"}"#, from: connection)
    bench.send(#"{"id":2,"command":"authenticate","token":"secret-wall"}"#, from: connection)
    #expect(bench.heard(by: connection) == [])
    bench.store()

    #expect(bench.heard(by: connection) == ["ok 1", "ok 2"])
  }

  @Test func `ends subscriptions that the token does not cover`() {
    var bench = HubBench.withTokens(anonymous: .view)
    let connection = bench.connect([QueryItem("timer", "stage"), QueryItem("timer", "kitchen")])

    bench.send(#"{"command":"authenticate","token":"secret-guest"}"#, from: connection)
    _ = bench.heard(by: connection)
    bench.advance(1)

    #expect(bench.heard(by: connection) == ["tick kitchen 299"])
  }

  @Test func `narrows a subscription to all`() {
    var bench = HubBench.withTokens(anonymous: .view)
    let connection = bench.connect([QueryItem("timer", "*")])

    bench.send(#"{"command":"authenticate","token":"secret-guest"}"#, from: connection)
    _ = bench.heard(by: connection)
    bench.advance(1)

    #expect(bench.heard(by: connection) == ["tick kitchen 299.25 kitchen 2 299.25"])
  }

  @Test(arguments: ["nothing", "", "secret-stage ", "SECRET-STAGE", "stage"])
  func `refuses what is no token`(_ secret: String) {
    var bench = HubBench.withTokens()

    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"authenticate","token":"\#(secret)"}"#, from: connection)
    bench.send(#"{"id":2,"command":"list"}"#, from: connection)

    #expect(bench.heard(by: connection) == ["hello", "unauthorized 1", "unauthorized 2"])
    #expect(bench.closeCodes[connection] == nil)
  }

  @Test func `is closed with 1008 after five wrong tokens`() {
    var bench = HubBench.withTokens()
    let connection = bench.connect()

    for _ in 1...4 {
      bench.send(#"{"command":"authenticate","token":"nothing"}"#, from: connection)
    }
    #expect(bench.closeCodes[connection] == nil)
    bench.send(#"{"id":5,"command":"authenticate","token":"nothing"}"#, from: connection)

    #expect(bench.heard(by: connection).last == "unauthorized 5")
    #expect(bench.closeCodes[connection] == .policyViolation)
  }

  @Test func `closes nothing where no tokens are set up`() {
    var bench = HubBench.make()
    let connection = bench.connect()

    for _ in 1...20 {
      bench.send(#"{"command":"authenticate","token":"nothing"}"#, from: connection)
    }

    #expect(bench.closeCodes[connection] == nil)
    #expect(bench.heard(by: connection).count == 21)
  }
}

@Suite struct `A token over HTTP` {
  @Test func `is presented by header or query`() {
    var bench = HubBench.withTokens()

    #expect(bench.http("GET", "/api/timers", headers: bearer("wall")).status == 200)
    #expect(
      bench.http("GET", "/api/timers", query: [QueryItem("token", "secret-wall")]).status == 200)
  }

  @Test(arguments: [[:], ["authorization": "Bearer nothing"], ["authorization": "Basic eDp5"]])
  func `that is missing or wrong is asked for with 401`(_ headers: [String: String]) {
    var bench = HubBench.withTokens()

    for (method, path) in [
      ("GET", "/api/timers"), ("GET", "/api/timers/stage"), ("POST", "/api/timers/stage/pause"),
      ("DELETE", "/api/timers/stage"), ("GET", "/metrics"),
    ] {
      let response = bench.http(method, path, headers: headers)

      #expect(response.status == 401, "\(method) \(path)")
      #expect(response.headers.contains { $0.name == "WWW-Authenticate" && $0.value == "Bearer" })
      #expect(Message(response.body).timer == nil)
    }
  }

  @Test func `is not needed to ask whether the server is well`() {
    var bench = HubBench.withTokens()
    bench.damage("secret name.json")

    let stranger = bench.http("GET", "/healthz")

    #expect(stranger.status == 200)
    #expect(!String(decoding: stranger.body, as: UTF8.self).contains("secret name"))
    #expect(bench.http("GET", "/readyz").status == 200)
    let known = bench.http("GET", "/healthz", headers: bearer("wall"))
    #expect(String(decoding: known.body, as: UTF8.self).contains("secret name"))
  }
}
