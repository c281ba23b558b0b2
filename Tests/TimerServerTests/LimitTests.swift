import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `The budget of a connection` {
  private let limits = RequestBudget.Limits(perSecond: 4, refusalsMax: 100)

  private func verdicts(
    _ budget: inout RequestBudget, _ count: Int, at now: Instant
  ) -> [RequestBudget.Verdict] {
    (0..<count).map { _ in budget.take(at: now) }
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

  @Test func `is enough for who keeps to the rate for ever`() {
    var budget = RequestBudget(limits, at: 0)

    for step in 0..<10_000 {
      #expect(budget.take(at: Instant(Seconds(microseconds: Int64(step) * 250_000))) == .granted)
    }
  }

  @Test func `is exhausted for who does not stop`() {
    var budget = RequestBudget(limits, at: 0)

    let all = verdicts(&budget, 121, at: 0)

    #expect(all.filter { $0 == .refused }.count == 100)
    #expect(all.last == .exhausted)
  }

  @Test func `is exhausted too when a little is granted in between`() {
    var budget = RequestBudget(limits, at: 0)
    var last = RequestBudget.Verdict.granted

    for millisecond in 0..<1_000 where last != .exhausted {
      last = budget.take(at: Instant(Seconds(microseconds: Int64(millisecond) * 1_000)))
    }

    #expect(last == .exhausted)
  }

  @Test func `forgets refusals with time`() {
    var budget = RequestBudget(limits, at: 0)
    _ = verdicts(&budget, 120, at: 0)

    #expect(budget.take(at: 60) == .granted)
    #expect(verdicts(&budget, 100, at: 60).contains(.exhausted) == false)
  }

  @Test func `is not refilled by a clock that stands or goes back`() {
    var budget = RequestBudget(limits, at: 100)
    _ = verdicts(&budget, 20, at: 100)

    #expect(budget.take(at: 99) == .refused)
    #expect(budget.take(at: 100) == .refused)
  }
}

@Suite struct `A connection in haste` {
  private func bench() -> HubBench {
    HubBench.make {
      $0.requests.perSecond = 2
      $0.requests.refusalsMax = 20
    }
  }

  @Test func `is told so with its own id, and served again a little later`() {
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
    #expect(figures.contains("timersync_refusals_total{code=\"rateLimited\"} 21\n"))
    #expect(figures.contains("timersync_dismissals_total{reason=\"rate\"} 1\n"))
  }
}

@Suite struct `A connection that waits for many replies` {
  @Test func `is closed with 1013 when there are too many`() {
    var bench = HubBench.make { $0.repliesMax = 3 }
    let connection = bench.connect()

    for _ in 1...3 {
      bench.send(#"{"command":"start","timer":"tea","force":true}"#, from: connection)
    }
    #expect(bench.closeCodes[connection] == nil)
    bench.send(#"{"command":"sync"}"#, from: connection)

    #expect(bench.closeCodes[connection] == .tryAgainLater)
    bench.store()
    #expect(bench.heard(by: connection) == ["hello"])
  }

  @Test func `goes on when they have come`() {
    var bench = HubBench.make { $0.repliesMax = 3 }
    let connection = bench.connect()

    for _ in 1...5 {
      bench.send(#"{"command":"start","timer":"tea","force":true}"#, from: connection)
      bench.store()
    }

    #expect(bench.closeCodes[connection] == nil)
  }
}
