import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `Idempotency keys` {
  private static let book = TokenTable([.make("stage"), .make("lobby"), .make("wall", .view)])

  private func bench() -> HubBench { HubBench.withTokens(Self.book, anonymous: .control) }

  private func message(_ command: String, _ timer: String, _ key: String = "1") -> String {
    #"{"id":9,"command":"\#(command)","timer":"\#(timer)","requestId":"\#(key)"}"#
  }

  @Test func `of two tokens are two, though they count alike`() {
    var bench = bench()
    let stage = bench.connect(token: "stage")
    let lobby = bench.connect(token: "lobby")
    bench.send(message("pause", "kitchen"), from: stage)
    bench.store()

    bench.send(message("pause", "stage"), from: lobby)
    bench.store()

    #expect(bench.messages(to: lobby).last?.timer?.text("timer") == "stage")
    #expect(bench.messages(to: lobby).last?.code == nil)
  }

  @Test func `of a token and of visitors are two, over a restart too`() {
    var bench = bench()
    let stage = bench.connect(token: "stage")
    bench.send(message("pause", "kitchen"), from: stage)
    bench.store()
    var restarted = bench.restarted()

    let visitor = restarted.connect()
    restarted.send(message("pause", "stage"), from: visitor)
    restarted.store()
    #expect(restarted.messages(to: visitor).last?.timer?.text("timer") == "stage")

    let again = restarted.connect(token: "stage")
    restarted.send(message("pause", "kitchen"), from: again)
    restarted.store()
    #expect(restarted.messages(to: again).last?.isOK == true)
  }

  @Test func `of a token are not those of another by the same name`() {
    var bench = bench()
    let stage = bench.connect(token: "stage")
    bench.send(message("pause", "kitchen"), from: stage)
    bench.store()
    guard let digest = TokenDigest(of: "another-secret") else { preconditionFailure("plain") }
    bench.keep([Token(name: "stage", role: .control, digest: digest)])

    let successor = bench.connect([QueryItem("token", "another-secret")])
    bench.send(message("pause", "stage"), from: successor)
    bench.store()

    #expect(bench.messages(to: successor).last?.timer?.text("timer") == "stage")
  }

  @Test(arguments: ["WebSocket", "HTTP"])
  func `of a finishAll answer its own token alone`(_ way: String) {
    var bench = HubBench.withTokens()
    let cook = bench.connect(token: "cook")
    bench.send(#"{"command":"finishAll","requestId":"end"}"#, from: cook)
    bench.store()

    let finished: [Message]
    if way == "HTTP" {
      let response = bench.http(
        "POST", "/api/timers/*/finishAll",
        headers: [
          "authorization": "Bearer " + Token.secret("stage"), "idempotency-key": "end",
        ])
      finished = Message(response.body).timers
    } else {
      let stage = bench.connect(token: "stage")
      bench.send(#"{"id":1,"command":"finishAll","requestId":"end"}"#, from: stage)
      bench.store()
      finished = bench.messages(to: stage).last?.timers ?? []
    }

    #expect(finished.map { $0.text("timer") } == ["stage"])
  }

  @Test func `of visitors are one set, from wherever they come`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea"}"#)
    let key = ["idempotency-key": "6f1c2a9e"]
    let first = bench.http(
      "POST", "/api/timers/tea/pause", headers: key, from: "192.0.2.1")

    let second = bench.http(
      "POST", "/api/timers/tea/pause", headers: key, from: "2001:db8::7")

    #expect(first.status == 200)
    #expect(second.status == 200)
    #expect(second.body == first.body)
  }
}

@Suite struct `A finishAll with an idempotency key` {
  @Test(arguments: [false, true])
  func `that found nothing ends nothing when it is sent again`(_ isOverRestart: Bool) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"oven"}"#)
    bench.ask(#"{"command":"finish","timer":"oven"}"#)
    let first = bench.ask(#"{"command":"finishAll","requestId":"end"}"#)
    if isOverRestart { bench = bench.restarted() }
    bench.ask(#"{"command":"start","timer":"talk","duration":300}"#)

    let again = bench.ask(#"{"command":"finishAll","requestId":"end"}"#)

    #expect(first.isOK == true)
    #expect(again.isOK == true)
    #expect(again.timers.isEmpty)
    #expect(bench.ask(#"{"command":"get","timer":"talk"}"#).timer?.status == "running")
  }

  @Test func `is not vetoed by a timer that changed since the press`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"talk","duration":300}"#)
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.advance(10)
    let press = bench.now
    bench.wait(0.5)
    bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":5}"#)
    bench.wait(0.5)

    let reply = bench.ask(
      #"{"command":"finishAll","at":\#(press.sinceEpoch.inSeconds)}"#)

    let elapsed = reply.timers.map { $0.number("elapsedTime") }
    #expect(elapsed == [10, 10.5])
  }

  @Test func `is refused for a press that is too long ago, though nothing changed since`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"talk","duration":300}"#)
    bench.wait(10)
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    let reply = bench.ask(#"{"command":"finishAll","at":1764480001}"#)

    #expect(reply.code == "outOfRange")
  }
}

@Suite struct `A read` {
  @Test func `that came before authenticate is judged by what was allowed then`() {
    var bench = HubBench.withTokens(anonymous: Role.none)
    let client = bench.connect()
    _ = bench.heard(by: client)
    bench.send(#"{"id":0,"command":"pause","timer":"stage"}"#, from: client)
    bench.send(#"{"id":1,"command":"list"}"#, from: client)

    bench.send(
      #"{"id":2,"command":"authenticate","token":"\#(Token.secret("wall"))"}"#, from: client)
    bench.send(#"{"id":3,"command":"list"}"#, from: client)

    #expect(
      bench.heard(by: client) == ["unauthorized 0", "unauthorized 1", "ok 2", "ok 3"])
  }

  @Test(arguments: ["get", "list", "subscribe"])
  func `that waits for the disk is judged by what was allowed when it came`(_ command: String) {
    var bench = HubBench.withTokens()
    let client = bench.connect(token: "cook")
    _ = bench.heard(by: client)
    // This token may change the kitchen's timer, and may not see the stage's.
    bench.send(#"{"id":0,"command":"pause","timer":"kitchen"}"#, from: client)
    let timer = command == "list" ? "" : #","timer":"stage""#
    bench.send(#"{"id":1,"command":"\#(command)"\#(timer)}"#, from: client)
    bench.send(
      #"{"id":2,"command":"authenticate","token":"\#(Token.secret("wall"))"}"#, from: client)
    bench.store()

    let messages = bench.messages(to: client)
    let reply = messages.first { $0["reply"] as? Int == 1 }
    if command == "list" {
      #expect(reply?.timers.map { $0.text("timer") } == ["kitchen", "kitchen 2"])
    } else {
      #expect(reply?.code == "forbidden")
    }
  }

  @Test func `that subscribed before a narrower token receives no more than that allows`() {
    var bench = HubBench.withTokens()
    let client = bench.connect(token: "stage")
    _ = bench.heard(by: client)
    bench.send(#"{"id":0,"command":"pause","timer":"kitchen"}"#, from: client)
    bench.send(#"{"id":1,"command":"subscribe","timer":"stage","interval":0}"#, from: client)
    bench.send(
      #"{"id":2,"command":"authenticate","token":"\#(Token.secret("guest"))"}"#, from: client)
    bench.store()
    _ = bench.heard(by: client)

    let stage = bench.connect(token: "stage")
    bench.send(#"{"command":"pause","timer":"stage"}"#, from: stage)
    bench.store()

    #expect(bench.heard(by: client) == [])
  }
}
