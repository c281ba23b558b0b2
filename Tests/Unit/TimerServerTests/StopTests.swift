import Testing
import TimerCore
import WebSocketTransport

@Suite struct `A server that stops` {
  @Test func `answers first what is under way`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)

    bench.stop()
    let isStoppedEarly = bench.isStopped
    bench.store()

    #expect(!isStoppedEarly)
    #expect(bench.heard(by: connection) == ["hello", "ok 1"])
    #expect(bench.isStopped)
  }

  @Test func `answers what is durable, also behind what waits for its turn`() {
    var bench = HubBench.make { $0.timersMax = 1_000 }
    for number in 0..<600 { bench.ask(#"{"command":"start","timer":"t\#(number)"}"#) }
    for _ in 0..<10 { bench.send(#"{"command":"list"}"#, from: bench.connect()) }
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"list"}"#, from: connection)
    bench.send(#"{"id":2,"command":"get","timer":"t1"}"#, from: connection)
    bench.send(#"{"id":3,"command":"get","timer":"tea","oops":1}"#, from: connection)
    bench.send(
      #"{"id":4,"command":"authenticate","token":"nobody"}"#, from: connection)
    let subscriber = bench.connect([QueryItem("timer", "*")])
    let list = bench.request("GET", "/api/timers")

    bench.stop()
    bench.store()

    #expect(
      bench.heard(by: connection) == [
        "hello", "shuttingDown 1", "shuttingDown 2", "badRequest 3", "unauthorized 4",
      ])
    #expect(bench.heard(by: subscriber) == ["hello", "shuttingDown null"])
    #expect(bench.responses[list]?.status == 503)
    #expect(bench.isStopped)
    #expect(bench.nextDue == nil)
  }

  @Test func `refuses changes meanwhile, and answers reads`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.stop()

    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)
    bench.send(#"{"id":2,"command":"list"}"#, from: connection)

    let messages = bench.messages(to: connection)
    #expect(messages.map(\.description) == ["hello", "shuttingDown 1", "ok 2"])
    #expect(messages[1].error?["retryable"] as? Bool == true)
  }

  @Test func `is reported as not ready by the health probe`() {
    var bench = HubBench.make()
    let ready = bench.http("GET", "/readyz").status
    bench.stop()

    let id = bench.request("GET", "/readyz")

    #expect(ready == 200)
    #expect(bench.responses[id]?.status == 503)
  }

  @Test func `refuses changes by HTTP with 503`() {
    var bench = HubBench.make()
    bench.stop()

    let id = bench.request("POST", "/api/timers/tea/start")

    #expect(bench.responses[id]?.status == 503)
  }

  @Test func `doesn't wait for a disk that hangs`() {
    var bench = HubBench.make()
    bench.stop()

    bench.jump(1.9)
    let isStoppedEarly = bench.isStopped
    bench.jump(0.2)

    #expect(!isStoppedEarly)
    #expect(bench.isStopped)
  }

  @Test func `doesn't wait for a disk that refuses`() {
    var bench = HubBench.make()
    bench.stop()

    bench.failStore()

    #expect(bench.isStopped)
  }

  @Test func `wastes no revision`() throws {
    var bench = HubBench.make()
    let before = try #require(bench.ask(#"{"command":"start","timer":"tea"}"#).timer?.revision)
    bench.stop()
    bench.store()

    var restarted = bench.restarted()
    let after = restarted.ask(#"{"command":"pause","timer":"tea"}"#).timer?.revision

    #expect(after == before + 1)
  }

  @Test func `writes once though it is asked to stop twice`() {
    var bench = HubBench.make()

    bench.stop()
    bench.stop()

    #expect(bench.pendingWrites.count == 1)
  }
}
