import Testing
import TimerCore
import TimerServer
import WebSocketTransport

@Suite struct `A new connection` {
  @Test func `is greeted`() throws {
    var bench = HubBench.make()

    let connection = bench.connect()

    let hello = try #require(bench.messages(to: connection).first)
    #expect(hello.text("event") == "hello")
    #expect(hello.text("server") == "timersync/\(Version.text)")
    #expect(hello.number("protocol") == 1)
    #expect(hello.text("epoch") == "epoch-1")
    #expect(hello.text("role") == "control")
    #expect(hello.number("now") == 1_764_480_000.25)
  }

  @Test func `receives nothing more unasked`() {
    var bench = HubBench.make()
    let connection = bench.connect()

    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.advance(10)

    #expect(bench.heard(by: connection) == ["hello"])
  }

  @Test func `is subscribed by its address`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.ask(#"{"command":"start","timer":"rice","duration":60}"#)

    let connection = bench.connect([QueryItem("timer", "tea")])
    bench.advance(1)

    #expect(bench.heard(by: connection) == ["hello", "subscribed tea 300", "tick tea 299"])
  }

  @Test func `is subscribed to several timers by its address`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.ask(#"{"command":"start","timer":"rice","duration":60}"#)

    let connection = bench.connect([QueryItem("timer", "tea"), QueryItem("timer", "rice")])

    #expect(bench.heard(by: connection) == ["hello", "subscribed rice 60 tea 300"])
  }

  @Test func `is subscribed to all timers by its address`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    let connection = bench.connect([QueryItem("timer", "*"), QueryItem("interval", "0")])
    bench.advance(5)

    #expect(bench.heard(by: connection) == ["hello", "subscribed tea 300"])
  }

  @Test func `receives an empty snapshot while there are no timers`() {
    var bench = HubBench.make()

    let connection = bench.connect([QueryItem("timer", "tea")])

    #expect(bench.heard(by: connection) == ["hello", "subscribed"])
  }

  @Test func `may bring a token along`() {
    var bench = HubBench.make()

    let connection = bench.connect([QueryItem("token", "secret")])

    #expect(bench.heard(by: connection) == ["hello"])
  }

  @Test(arguments: [
    ([QueryItem("timr", "tea")], "badRequest"), ([QueryItem("timer", "")], "badRequest"),
    ([QueryItem("timer", "tea"), QueryItem("interval", "fast")], "badRequest"),
    ([QueryItem("timer", "tea"), QueryItem("interval", "0.05")], "outOfRange"),
    ([QueryItem("timer", "tea"), QueryItem("interval", "3601")], "outOfRange"),
    ([QueryItem("timer", "tea"), QueryItem("interval", "nan")], "badRequest"),
    (
      [QueryItem("interval", "1"), QueryItem("interval", "2"), QueryItem("timer", "a")],
      "badRequest"
    ),
  ])
  func `receives an error for a query that can't be served`(
    _ query: [QueryItem], _ code: String
  ) {
    var bench = HubBench.make()

    let connection = bench.connect(query)

    #expect(bench.heard(by: connection) == ["hello", "\(code) null"])
  }
}

@Suite struct `Replies` {
  @Test func `come for every request, in order`() {
    var bench = HubBench.make()
    let connection = bench.connect()

    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)
    bench.send(#"{"id":2,"command":"get","timer":"tea"}"#, from: connection)
    bench.send("tea", from: connection)
    bench.send(#"{"id":4,"command":"start","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":5,"command":"fly"}"#, from: connection)
    bench.send(#"{"id":6,"command":"list"}"#, from: connection)
    let early = bench.heard(by: connection)
    bench.store()

    #expect(early == ["hello"])
    #expect(
      bench.heard(by: connection) == [
        "ok 1", "ok 2", "badRequest null", "timerAlreadyStarted 4", "unknownCommand 5", "ok 6",
      ])
  }

  @Test func `come at once where nothing has to be stored`() {
    var bench = HubBench.make()
    let connection = bench.connect()

    bench.send(#"{"id":1,"command":"list"}"#, from: connection)
    bench.send(#"{"id":2,"command":"pause","timer":"tea"}"#, from: connection)

    #expect(bench.heard(by: connection) == ["hello", "ok 1", "timerHasNotStarted 2"])
  }

  @Test func `don't wait for other connections`() {
    var bench = HubBench.make()
    let one = bench.connect()
    let other = bench.connect()

    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: one)
    bench.send(#"{"id":2,"command":"get","timer":"tea"}"#, from: other)

    #expect(bench.heard(by: other) == ["hello", "unknownTimer 2"])
  }

  @Test func `show the state that came of what was asked before`() throws {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)
    bench.send(#"{"id":2,"command":"pause","timer":"tea"}"#, from: connection)

    bench.send(#"{"id":3,"command":"get","timer":"tea"}"#, from: connection)
    bench.store()

    let state = try #require(bench.messages(to: connection).last?.timer)
    #expect(state.status == "paused")
  }

  @Test func `are left out for connections that are gone`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)

    bench.disconnect(connection)
    bench.store()

    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).isOK == true)
  }

  @Test func `to a clock request have the times of arrival and departure`() throws {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)
    bench.send(#"{"id":2,"command":"sync","clientTime":12.5}"#, from: connection)
    bench.wait(0.25)

    bench.store()

    let reply = try #require(bench.messages(to: connection).last)
    #expect(reply.number("clientTime") == 12.5)
    #expect(reply.number("receivedAt") == 1_764_480_000.25)
    #expect(reply.number("sentAt") == 1_764_480_000.5)
  }

  @Test func `list every timer by name`() {
    var bench = HubBench.make()
    for name in ["b", "a", "🍵", "B"] { bench.ask(#"{"command":"start","timer":"\#(name)"}"#) }

    let reply = bench.ask(#"{"command":"list"}"#)

    #expect(reply.timers.map { $0.text("timer") } == ["B", "a", "b", "🍵"])
  }

  @Test func `list nothing while there is nothing`() {
    var bench = HubBench.make()

    let reply = bench.ask(#"{"command":"list"}"#)

    #expect(reply.has("timers"))
    #expect(reply.timers.isEmpty)
  }

  @Test func `keep both spellings of é apart`() {
    var bench = HubBench.make()
    bench.ask("{\"command\":\"start\",\"timer\":\"caf\u{E9}\",\"duration\":5}")
    bench.ask("{\"command\":\"start\",\"timer\":\"cafe\u{301}\",\"duration\":60}")

    let reply = bench.ask("{\"command\":\"get\",\"timer\":\"caf\u{E9}\"}")

    #expect(reply.timer?.time == 5)
    #expect(bench.ask(#"{"command":"list"}"#).timers.count == 2)
  }
}

@Suite struct `A visitor with the role view` {
  @Test(arguments: [
    #"{"id":1,"command":"start","timer":"tea","duration":5}"#,
    #"{"id":1,"command":"update","timer":"tea","title":"x"}"#, #"{"id":1,"command":"pause"}"#,
    #"{"id":1,"command":"resume"}"#, #"{"id":1,"command":"finish"}"#,
    #"{"id":1,"command":"finishAll"}"#, #"{"id":1,"command":"reset"}"#,
    #"{"id":1,"command":"addRemainingTime","seconds":5}"#,
    #"{"id":1,"command":"addElapsedTime","seconds":5}"#, #"{"id":1,"command":"remove"}"#,
  ])
  func `is refused each change`(_ json: String) {
    var bench = HubBench.make(role: .view)
    let connection = bench.connect()

    bench.send(json, from: connection)

    #expect(bench.heard(by: connection) == ["hello", "forbidden 1"])
    #expect(bench.pendingWrites.isEmpty)
  }

  @Test func `may read`() {
    var bench = HubBench.make(role: .view)
    let connection = bench.connect()

    bench.send(#"{"id":1,"command":"list"}"#, from: connection)
    bench.send(#"{"id":2,"command":"get","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":3,"command":"sync"}"#, from: connection)
    bench.send(#"{"id":4,"command":"subscribe","timers":"*"}"#, from: connection)

    #expect(
      bench.heard(by: connection) == [
        "hello", "ok 1", "unknownTimer 2", "ok 3", "ok 4", "subscribed",
      ])
  }

  @Test func `receives its role`() {
    var bench = HubBench.make(role: .view)

    let connection = bench.connect()

    #expect(bench.messages(to: connection).first?.text("role") == "view")
  }
}
