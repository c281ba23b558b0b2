import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `The budget of a connection` {
  private let limits = RequestBudget.Limits(perSecond: 4, refusalsMax: 100)

  private func verdicts(
    _ budget: inout RequestBudget, _ count: Int, at now: Instant
  ) -> [RequestBudget.Verdict] {
    (0..<count).map { _ in budget.consume(at: now) }
  }

  @Test func `has a burst, and no more at once`() {
    var budget = RequestBudget(limits, at: 0)

    #expect(verdicts(&budget, 20, at: 0).allSatisfy { $0 == .granted })
    #expect(verdicts(&budget, 1, at: 0) == [.refused])
  }

  @Test func `grows with time, up to the burst`() {
    var budget = RequestBudget(limits, at: 0)
    _ = verdicts(&budget, 20, at: 0)

    #expect(verdicts(&budget, 2, at: 0.25) == [.granted, .refused])
    #expect(verdicts(&budget, 11, at: 1.25).filter { $0 == .granted }.count == 4)
    #expect(verdicts(&budget, 30, at: 1_000_000).filter { $0 == .granted }.count == 20)
  }

  @Test func `is enough for a client that keeps to the rate for ever`() {
    var budget = RequestBudget(limits, at: 0)

    for step in 0..<10_000 {
      #expect(budget.consume(at: Instant(Seconds(microseconds: Int64(step) * 250_000))) == .granted)
    }
  }

  @Test func `is exhausted for a client that keeps exceeding the rate`() {
    var budget = RequestBudget(limits, at: 0)

    let all = verdicts(&budget, 121, at: 0)

    #expect(all.filter { $0 == .refused }.count == 100)
    #expect(all.last == .exhausted)
  }

  @Test func `is exhausted too when a little is granted in between`() {
    var budget = RequestBudget(limits, at: 0)
    var last = RequestBudget.Verdict.granted

    for millisecond in 0..<1_000 where last != .exhausted {
      last = budget.consume(at: Instant(Seconds(microseconds: Int64(millisecond) * 1_000)))
    }

    #expect(last == .exhausted)
  }

  @Test func `forgets refusals with time`() {
    var budget = RequestBudget(limits, at: 0)
    _ = verdicts(&budget, 120, at: 0)

    #expect(budget.consume(at: 60) == .granted)
    #expect(verdicts(&budget, 100, at: 60).contains(.exhausted) == false)
  }

  @Test func `is not refilled by a clock that stands or goes back`() {
    var budget = RequestBudget(limits, at: 100)
    _ = verdicts(&budget, 20, at: 100)

    #expect(budget.consume(at: 99) == .refused)
    #expect(budget.consume(at: 100) == .refused)
  }
}

@Suite struct `A connection that exceeds its request rate` {
  private func bench() -> HubBench {
    HubBench.make {
      $0.requests.perSecond = 2
      $0.requests.refusalsMax = 20
    }
  }

  @Test func `is refused with its own id, and served again a little later`() {
    var bench = bench()
    let connection = bench.connect()

    for number in 1...11 { bench.send(#"{"id":\#(number),"command":"sync"}"#, from: connection) }
    #expect(bench.heard(by: connection).suffix(2) == ["ok 10", "rateLimited 11"])
    bench.wait(1)
    bench.send(#"{"id":12,"command":"sync"}"#, from: connection)

    #expect(bench.heard(by: connection) == ["ok 12"])
    #expect(bench.closeCodes[connection] == nil)
  }

  @Test func `changes nothing with what is refused`() {
    var bench = bench()
    let connection = bench.connect()

    for _ in 1...10 { bench.send(#"{"command":"sync"}"#, from: connection) }
    bench.send(#"{"command":"start","timer":"tea"}"#, from: connection)
    bench.send("nonsense", from: connection)

    #expect(bench.pendingWrites.isEmpty)
    #expect(bench.heard(by: connection).suffix(2) == ["rateLimited null", "rateLimited null"])
  }

  @Test func `is closed with 1008 when it goes on`() {
    var bench = bench()
    let connection = bench.connect()

    for _ in 1...31 { bench.send(#"{"command":"sync"}"#, from: connection) }

    #expect(bench.closeCodes[connection] == .policyViolation)
  }

  @Test func `costs another one nothing`() {
    var bench = bench()
    let hasty = bench.connect()
    let calm = bench.connect()
    for _ in 1...20 { bench.send(#"{"command":"sync"}"#, from: hasty) }

    bench.send(#"{"id":1,"command":"sync"}"#, from: calm)

    #expect(bench.heard(by: calm) == ["hello", "ok 1"])
  }

  @Test func `is counted`() {
    var bench = bench()
    let connection = bench.connect()

    for _ in 1...31 { bench.send(#"{"command":"sync"}"#, from: connection) }

    let figures = String(decoding: bench.http("GET", "/metrics").body, as: UTF8.self)
    #expect(figures.contains("timersync_requests_refused_total{code=\"rateLimited\"} 21\n"))
    #expect(figures.contains("timersync_websocket_connections_closed_total{reason=\"rate\"} 1\n"))
  }
}

@Suite struct `A connection with many unanswered requests` {
  private func send(_ count: Int, from connection: ConnectionID, _ bench: inout HubBench) {
    for _ in 0..<count {
      bench.send(#"{"command":"start","timer":"tea","force":true}"#, from: connection)
    }
  }

  @Test func `is not read until half of them are answered`() {
    var bench = HubBench.make { $0.repliesMax = 4 }
    let connection = bench.connect()

    send(3, from: connection, &bench)
    #expect(bench.pausedConnections.isEmpty)
    send(1, from: connection, &bench)
    #expect(bench.pausedConnections == [connection])
    bench.store(first: 1)
    #expect(bench.pausedConnections == [connection])
    bench.store(first: 1)

    #expect(bench.pausedConnections.isEmpty)
    #expect(bench.closeCodes[connection] == nil)
  }

  @Test func `is answered for what was read already`() {
    var bench = HubBench.make { $0.repliesMax = 2 }
    let connection = bench.connect()

    send(50, from: connection, &bench)
    bench.send(#"{"id":51,"command":"sync"}"#, from: connection)
    bench.store()

    let replies = Array(repeating: "ok null", count: 50) + ["ok 51"]
    #expect(bench.heard(by: connection) == ["hello"] + replies)
    #expect(bench.pausedConnections.isEmpty)
  }

  @Test func `is read again when the disk refuses`() {
    var bench = HubBench.make { $0.repliesMax = 2 }
    let connection = bench.connect()
    send(2, from: connection, &bench)

    bench.failStore()

    #expect(bench.pausedConnections.isEmpty)
    #expect(bench.heard(by: connection).last == "storageFailed null")
  }

  @Test func `is forgotten when it goes`() {
    var bench = HubBench.make { $0.repliesMax = 1 }
    let connection = bench.connect()
    send(1, from: connection, &bench)

    bench.disconnect(connection)
    bench.store()

    #expect(bench.hub.pausedConnections.isEmpty)
  }

  @Test func `is paused though it asks for little, when the disk has much to do`() {
    var bench = HubBench.make { $0.pendingMax = 4 }
    let many = bench.connect()
    let few = bench.connect()
    let reader = bench.connect()

    send(4, from: many, &bench)
    send(1, from: few, &bench)
    bench.send(#"{"id":1,"command":"list"}"#, from: reader)
    #expect(bench.pausedConnections == [many, few])
    #expect(bench.heard(by: reader) == ["hello", "ok 1"])
    bench.store(first: 2)
    #expect(bench.pausedConnections == [many, few])
    bench.store(first: 1)

    #expect(bench.pausedConnections.isEmpty)
  }

  @Test func `is counted`() {
    var bench = HubBench.make { $0.repliesMax = 2 }
    let connection = bench.connect()

    send(3, from: connection, &bench)

    let figures = String(decoding: bench.http("GET", "/metrics").body, as: UTF8.self)
    #expect(figures.contains("timersync_websocket_reading_paused_total 1\n"))
  }
}

@Suite struct `An address that exceeds its request rate` {
  private func bench() -> HubBench {
    HubBench.make { $0.httpRequests.perSecond = 2 }
  }

  @Test func `gets 429 with Retry-After by HTTP`() {
    var bench = bench()

    let statuses = (1...11).map { _ in bench.http("GET", "/api/timers").status }
    let refused = bench.http("GET", "/metrics")

    #expect(statuses == Array(repeating: 200, count: 10) + [429])
    #expect(refused.status == 429)
    #expect(refused.headers.contains(HTTPHeader("Retry-After", "1")))
    #expect(Message(refused.body).code == "rateLimited")
  }

  @Test func `is served again a little later`() {
    var bench = bench()
    for _ in 1...11 { _ = bench.http("GET", "/api/timers") }

    bench.wait(1)
    let answer = bench.http("GET", "/api/timers")

    #expect(answer.status == 200)
  }

  @Test func `changes nothing with what is refused`() {
    var bench = bench()
    for _ in 1...10 { _ = bench.http("GET", "/api/timers") }

    _ = bench.request("POST", "/api/timers/tea/start")

    #expect(bench.pendingWrites.isEmpty)
  }

  @Test func `costs another one nothing, but all of its network the same`() {
    var bench = bench()
    for _ in 1...11 { _ = bench.http("GET", "/api/timers", from: "2001:db8::1") }

    let statuses = ["2001:db8::2", "2001:db8:0:1::1", "192.0.2.1"].map {
      bench.http("GET", "/api/timers", from: $0).status
    }

    #expect(statuses == [429, 200, 200])
  }

  @Test func `is counted`() {
    var bench = bench()
    for _ in 1...12 { _ = bench.http("GET", "/api/timers") }
    bench.wait(1)

    let figures = String(decoding: bench.http("GET", "/metrics").body, as: UTF8.self)
    #expect(figures.contains("timersync_requests_refused_total{code=\"rateLimited\"} 2\n"))
  }

  @Test func `is forgotten when it has been idle`() {
    var budgets = AddressBudgets(RequestBudget.Limits(perSecond: 2))

    for number in 0..<100_000 {
      let now = Instant(Seconds(microseconds: Int64(number) * 1_000))
      let isGranted = budgets.consume(for: "address \(number)", at: now)
      #expect(isGranted)
    }

    #expect(budgets.count < 5_000)
  }

  @Test func `is forgotten too when it exceeded the rate once`() {
    var budgets = AddressBudgets(RequestBudget.Limits(perSecond: 2))

    for number in 0..<10_000 {
      let now = Instant(Seconds(microseconds: Int64(number) * 10_000))
      for _ in 1...11 { _ = budgets.consume(for: "address \(number)", at: now) }
    }

    #expect(budgets.count < 5_000)
  }

  @Test func `is not forgotten while it exceeds the rate`() {
    var budgets = AddressBudgets(RequestBudget.Limits(perSecond: 2))
    for _ in 1...10 { _ = budgets.consume(for: "hasty", at: 0) }

    for number in 0..<3_000 { _ = budgets.consume(for: "address \(number)", at: 0) }

    let isGranted = budgets.consume(for: "hasty", at: 0)
    #expect(!isGranted)
  }
}

@Suite struct `A server with narrower settings` {
  private func bench() -> HubBench {
    HubBench.make {
      $0.titleBytesMax = 5
      $0.warningsMax = 1
    }
  }

  @Test(arguments: [
    #"{"command":"start","title":"Pasta!"}"#, #"{"command":"update","title":"Pasté"}"#,
    #"{"command":"start","warnings":[2,1]}"#, #"{"command":"update","warnings":[2,1]}"#,
  ])
  func `refuses what is longer, with the state beside`(_ json: String) {
    var bench = bench()
    bench.ask(#"{"command":"start"}"#)

    let reply = bench.ask(json)

    #expect(reply.code == "badRequest")
    #expect(reply.timer?.text("title") == "")
  }

  @Test func `takes what is not`() {
    var bench = bench()

    let reply = bench.ask(#"{"command":"start","title":"Pasta","warnings":[60]}"#)

    #expect(reply.isOK == true)
  }
}
