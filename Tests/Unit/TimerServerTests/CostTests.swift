import TestSupport
import Testing
import TimerCore
import TimerProtocol
import WebSocketTransport

@testable import TimerServer

@Suite struct `A budget of work` {
  private let limits = RequestBudget.Limits(perSecond: 4, refusalsMax: 100)

  @Test func `is charged with the cost of a request`() {
    var budget = RequestBudget(limits, at: 0)

    #expect(budget.consume(cost: 15, at: 0) == .granted)
    #expect(budget.consume(cost: 6, at: 0) == .refused)
    #expect(budget.consume(cost: 5, at: 0) == .granted)
    #expect(budget.consume(at: 0) == .refused)
  }

  @Test func `grants what is above the burst once that is whole, and makes a bounded debt`() {
    var budget = RequestBudget(limits, at: 0)

    #expect(budget.consume(cost: 5_000, at: 0) == .granted)
    #expect(budget.consume(at: 5) == .refused)
    #expect(budget.consume(at: 5.25) == .granted)
    #expect(budget.consume(cost: 5_000, at: 10) == .refused)
    #expect(budget.consume(cost: 5_000, at: 11) == .granted)
  }

  @Test func `can be charged for what has been done already`() {
    var budget = RequestBudget(limits, at: 0)

    budget.charge(1_000_000, at: 0)

    #expect(budget.isOverdrawn(at: 5))
    #expect(!budget.isOverdrawn(at: 5.25))
    #expect(!budget.isFull(at: 9))
    #expect(budget.isFull(at: 10))
  }
}

@Suite struct `A costly request` {
  private func bench(_ timers: Int, perSecond: Int = 2) -> HubBench {
    var bench = HubBench.make {
      $0.requests.perSecond = perSecond
      $0.httpRequests.perSecond = perSecond
      $0.timersMax = 10_000
    }
    bench.start(timers)
    return bench
  }

  @Test(arguments: [
    #"{"id":1,"command":"list"}"#, #"{"id":1,"command":"subscribe","timers":"*"}"#,
    #"{"id":1,"command":"list","limit":100}"#,
  ])
  func `is served once, and makes the next one wait`(_ json: String) {
    var bench = bench(100)
    let connection = bench.connect()

    bench.send(json, from: connection)
    bench.send(#"{"id":2,"command":"sync"}"#, from: connection)
    bench.wait(3)
    bench.send(#"{"id":3,"command":"sync"}"#, from: connection)

    let replies = bench.messages(to: connection).filter(\.isReply).map(\.description)
    #expect(replies == ["ok 1", "rateLimited 2", "ok 3"])
  }

  @Test func `is distinguished from a cheap one`() {
    var bench = bench(100)
    let connection = bench.connect()

    for number in 1...10 {
      bench.send(#"{"id":\#(number),"command":"list","limit":7}"#, from: connection)
    }

    #expect(bench.heard(by: connection).suffix(10) == (1...10).map { "ok \($0)" })
  }

  @Test func `may be one that names much`() {
    var bench = bench(0)
    let connection = bench.connect()
    let names = (0..<60).map { "\"n\($0)\"" }.joined(separator: ",")

    bench.send(#"{"id":1,"command":"subscribe","timers":[\#(names)]}"#, from: connection)
    bench.send(#"{"id":2,"command":"sync"}"#, from: connection)

    #expect(bench.heard(by: connection).last == "rateLimited 2")
  }

  @Test func `may be one whose answer is long`() {
    var bench = bench(0)
    let connection = bench.connect()
    bench.ask(#"{"command":"start","timer":"run"}"#)
    for _ in 0..<450 {
      bench.wait(1.2345)
      bench.ask(#"{"command":"lap","timer":"run"}"#)
    }

    for number in 1...7 {
      bench.send(#"{"id":\#(number),"command":"get","timer":"run"}"#, from: connection)
    }

    #expect(bench.heard(by: connection).contains { $0.hasPrefix("rateLimited") })
  }

  @Test func `may be a change whose answer is long`() {
    var bench = bench(0, perSecond: 4)
    bench.ask(#"{"command":"start","timer":"run"}"#)
    for _ in 0..<450 {
      bench.wait(1.2345)
      bench.ask(#"{"command":"lap","timer":"run"}"#)
    }
    let connection = bench.connect()

    let statuses = (0..<12).map { _ in bench.http("POST", "/api/timers/run/lap").status }
    for number in 1...12 {
      bench.send(#"{"id":\#(number),"command":"lap","timer":"run"}"#, from: connection)
      bench.store()
    }

    #expect(statuses.last == 429)
    #expect(bench.heard(by: connection).last == "rateLimited 12")
  }

  @Test func `may be one that leaves many channels for others`() {
    var bench = HubBench.withTokens(anonymous: .control) { $0.subscriptionsMax = 1_000 }
    func hasEnough(_ json: (Int) -> String) -> Bool {
      let connection = bench.connect()
      for start in [0, 500] {
        let names = (start..<start + 499).map { "\"n\($0)\"" }.joined(separator: ",")
        bench.send(#"{"command":"subscribe","timers":[\#(names)]}"#, from: connection)
      }
      for number in 1...22 { bench.send(json(number), from: connection) }
      bench.advance(3)
      return bench.heard(by: connection).contains("rateLimited null")
    }

    #expect(
      hasEnough { #"{"command":"subscribe","timers":"*","interval":0.\#(1 + $0 % 2)}"# })
    #expect(
      hasEnough {
        #"{"command":"authenticate","token":"secret-\#($0 % 2 == 0 ? "wall" : "stage")"}"#
      })
    #expect(!hasEnough { _ in #"{"command":"authenticate","token":"secret-wall"}"# })
  }

  @Test(arguments: [
    #"{"id":1,"command":"list"}"#, #"{"id":1,"command":"list","limit":1}"#,
    #"{"id":1,"command":"subscribe","timers":"*"}"#,
  ])
  func `is none for a token that sees few of many`(_ json: String) {
    var bench = HubBench.withTokens {
      $0.requests.perSecond = 2
      $0.timersMax = 1_000
    }
    for number in 0..<200 { bench.start("m\(number)") }
    let connection = bench.connect(token: "guest")

    for _ in 0..<9 { bench.send(json, from: connection) }

    let replies = bench.messages(to: connection).filter(\.isReply)
    #expect(replies.map(\.description) == Array(repeating: "ok 1", count: 9))
  }

  @Test func `is bounded by HTTP too`() {
    var bench = bench(100)

    #expect(bench.http("GET", "/api/timers").status == 200)
    let refused = bench.http("GET", "/metrics")

    #expect(refused.status == 429)
    #expect(refused.headers.contains(HTTPHeader("Retry-After", "1")))
  }

  @Test func `may be a QR code, but not the same one again`() {
    var bench = bench(0, perSecond: 40)
    func body(_ letter: String) -> String {
      #"{"text":"\#(String(repeating: letter, count: 1_000))"}"#
    }

    let statuses = ["a", "a", "a", "b", "c", "d"].map {
      bench.http("POST", "/api/qr", body: body($0)).status
    }

    #expect(statuses == [200, 200, 200, 200, 429, 429])
  }
}

@Suite struct `Connections of one address` {
  @Test func `have together no more than ten times what one has`() {
    var bench = HubBench.make { $0.requests.perSecond = 10 }
    let crowd = (0..<40).map { _ in bench.connect() }
    let other = bench.connect(Handshake(peerAddress: "192.0.2.7"))

    for connection in crowd {
      for _ in 0..<50 { bench.send(#"{"command":"sync"}"#, from: connection) }
    }
    bench.send(#"{"id":1,"command":"sync"}"#, from: other)

    let granted = crowd.reduce(0) { sum, connection in
      sum + bench.heard(by: connection).count { $0 == "ok null" }
    }
    // 16 of each connection do not count.
    #expect(granted == 500 + 40 * 16)
    #expect(bench.heard(by: other).last == "ok 1")
  }

  @Test func `are refused with rateLimited, and served again a little later`() {
    var bench = HubBench.make { $0.requests.perSecond = 20 }
    let crowd = (0..<14).map { _ in bench.connect() }
    for connection in crowd {
      for _ in 0..<99 { bench.send(#"{"command":"sync"}"#, from: connection) }
    }

    let calm = bench.connect()
    for number in 1...17 { bench.send(#"{"id":\#(number),"command":"sync"}"#, from: calm) }
    let refused = bench.messages(to: calm).last
    bench.wait(0.1)
    bench.send(#"{"id":18,"command":"sync"}"#, from: calm)

    #expect(refused?.code == "rateLimited")
    #expect(refused?.error?.text("message")?.contains("over all connections") == true)
    #expect(bench.heard(by: calm) == ["ok 18"])
    #expect(bench.http("GET", "/healthz").status == 200)
  }

  @Test func `return all at once`() {
    var bench = HubBench.make()
    bench.start(20)
    let screens = (0..<250).map { _ in
      bench.connect(Handshake(peerAddress: "192.0.2.7"))
    }

    for screen in screens {
      bench.send(#"{"command":"sync"}"#, from: screen)
      bench.send(#"{"command":"subscribe","timers":"*","interval":10}"#, from: screen)
      for _ in 0..<10 { bench.send(#"{"command":"sync"}"#, from: screen) }
    }

    #expect(bench.closeCodes.isEmpty)
    #expect(
      screens.allSatisfy { bench.messages(to: $0).count { $0.isOK == true } == 12 })
  }

  @Test func `return in thousands too`() {
    var bench = HubBench.make()

    let clients = (0..<5_000).map { _ in bench.connect([QueryItem("timer", "tea")]) }

    #expect(bench.closeCodes.isEmpty)
    #expect(bench.heard(by: clients[4_999]) == ["hello", "subscribed"])
  }

  @Test func `are rejected for a while after many wrong tokens`() throws {
    var bench = HubBench.withTokens()
    let thief = bench.connect(token: "wall")
    for _ in 0..<1_100 {
      bench.disconnect(bench.connect(token: "nobody"))
    }

    let turnedBack = bench.connect(token: "stage")
    let elsewhere = bench.connect(
      Handshake(headers: bearer("stage"), peerAddress: "192.0.2.7"))
    bench.send(#"{"id":1,"command":"authenticate","token":"secret-stage"}"#, from: thief)
    let byHTTP = bench.http("GET", "/api/timers", headers: bearer("stage"))
    bench.wait(1)
    let later = bench.connect(token: "stage")

    #expect(bench.closeCodes[turnedBack] == .tryAgainLater)
    #expect(bench.heard(by: turnedBack).isEmpty)
    #expect(bench.heard(by: elsewhere) == ["hello"])
    #expect(bench.heard(by: thief).last == "rateLimited 1")
    #expect(byHTTP.status == 429)
    #expect(byHTTP.headers.contains(HTTPHeader("Retry-After", "1")))
    #expect(bench.heard(by: later) == ["hello"])
    #expect(bench.closeCodes[thief] == nil)
  }
}

@Suite struct `Costly work in the fair queue` {
  /// A list of this many takes 1.9 ms by the hub's reckoning, so that six of them are a row.
  private func bench() -> HubBench {
    var bench = HubBench.make { $0.timersMax = 1_000 }
    bench.start(600)
    return bench
  }

  private func hasList(_ connection: ConnectionID, _ bench: inout HubBench) -> Bool {
    bench.messages(to: connection).contains { $0.timers.count == 600 }
  }

  @Test func `waits for its turn, while others are answered`() {
    var bench = bench()
    let many = (0..<20).map { _ in bench.connect() }
    let other = bench.connect()

    for connection in many {
      bench.send(#"{"id":1,"command":"list"}"#, from: connection)
      bench.send(#"{"id":2,"command":"sync"}"#, from: connection)
    }
    bench.send(#"{"id":3,"command":"get","timer":"t1"}"#, from: other)

    #expect(bench.heard(by: other) == ["hello", "ok 3"])
    let atOnce = many.filter { bench.heard(by: $0).contains("ok 2") }
    #expect(atOnce.count == 6)
    bench.advance(0.012)
    let soon = many.filter { bench.heard(by: $0).contains("ok 2") }
    #expect((1...6).contains(soon.count))
    bench.advance(0.1)
    let replies = many.dropFirst(atOnce.count + soon.count).map { bench.heard(by: $0) }
    #expect(replies.allSatisfy { $0 == ["ok 1", "ok 2"] || $0 == ["hello", "ok 1", "ok 2"] })
    #expect(bench.nextDue == nil)
  }

  @Test func `is done for one address after the other`() {
    var bench = bench()
    let many = (0..<30).map { _ in bench.connect() }
    let one = bench.connect(Handshake(peerAddress: "192.0.2.7"))
    for connection in many { bench.send(#"{"command":"list"}"#, from: connection) }

    bench.send(#"{"command":"list"}"#, from: one)
    bench.advance(0.02)

    #expect(hasList(one, &bench))
    let served = many.count { hasList($0, &bench) }
    #expect((7..<20).contains(served))
  }

  @Test func `may be a subscription of the URL, a list by HTTP and a QR code`() {
    var bench = bench()
    let busy = (0..<10).map { _ in bench.connect() }
    for connection in busy { bench.send(#"{"command":"list"}"#, from: connection) }

    let subscriber = bench.connect([QueryItem("timer", "*")])
    let list = bench.request("GET", "/api/timers")
    let text = String(repeating: "x", count: 1_000)
    let picture = bench.request("POST", "/api/qr", body: #"{"text":"\#(text)"}"#)
    #expect(bench.heard(by: subscriber) == ["hello"])
    #expect(bench.responses[list] == nil)
    #expect(bench.responses[picture] == nil)
    bench.advance(0.2)

    #expect(hasList(subscriber, &bench))
    #expect(bench.responses[list]?.status == 200)
    #expect(bench.responses[picture]?.status == 200)
  }

  @Test func `is followed by a pause as long as it really took`() {
    var bench = bench()
    let many = (0..<20).map { _ in bench.connect() }
    for connection in many { bench.send(#"{"command":"list"}"#, from: connection) }
    let atOnce = many.count { hasList($0, &bench) }

    bench.work(0.1)
    bench.advance(0.15)
    let soon = many.count { hasList($0, &bench) }
    bench.advance(0.1)
    let later = many.count { hasList($0, &bench) }

    #expect(atOnce == 6)
    #expect(soon == 0)
    #expect(later > 0)
  }

  @Test func `is not overtaken by a later change of the same connection`() {
    var bench = bench()
    for _ in 0..<10 { bench.send(#"{"command":"list"}"#, from: bench.connect()) }
    let other = bench.subscriber(to: "tea")
    let one = bench.subscriber(to: "tea")

    bench.send(#"{"id":1,"command":"list"}"#, from: one)
    bench.send(#"{"id":2,"command":"start","timer":"tea"}"#, from: one)
    bench.send(#"{"id":3,"command":"sync"}"#, from: one)
    bench.send(#"{"id":4,"command":"list"}"#, from: one)
    bench.send(#"{"id":5,"command":"sync"}"#, from: one)
    bench.store()

    #expect(bench.heard(by: one) == ["ok 1", "ok 2", "started tea 0", "ok 3"])
    #expect(bench.heard(by: other) == ["started tea 0"])
    bench.advance(1)
    #expect(bench.heard(by: one) == ["ok 4", "ok 5"])
    #expect(bench.hub.workQueue.isEmpty)
  }

  @Test func `of closed connections is skipped, a few at a time`() {
    var bench = bench()
    let gone = (0..<200).map { _ in bench.connect() }
    for connection in gone { bench.send(#"{"command":"list"}"#, from: connection) }
    for connection in gone { bench.disconnect(connection) }

    bench.jump(1)
    let isDoneAtOnce = bench.hub.workQueue.isEmpty
    bench.advance(0.001)

    #expect(!isDoneAtOnce)
    #expect(bench.hub.workQueue.isEmpty)
  }

  @Test func `is dropped with its connection, and pauses no connection for ever`() {
    var bench = HubBench.make {
      $0.timersMax = 1_000
      $0.repliesMax = 4
    }
    bench.start(600)
    let gone = bench.connect()
    let patient = bench.connect()
    for _ in 0..<14 { bench.send(#"{"command":"list"}"#, from: gone) }
    for _ in 0..<12 { bench.send(#"{"command":"list"}"#, from: patient) }
    #expect(bench.pausedConnections == [gone, patient])

    bench.disconnect(gone)
    bench.advance(1)

    #expect(bench.hub.pausedConnections.isEmpty)
    #expect(bench.messages(to: patient).count { $0.timers.count == 600 } == 12)
    #expect(bench.hub.workQueue.isEmpty)
  }
}

@Suite struct `The replay history of a connection` {
  @Test func `drops its oldest entries, however many names it goes through`() throws {
    let session = Session(
      id: ConnectionID(1), address: "192.0.2.7", network: "192.0.2.7",
      grant: Grant(anonymous: .view), budget: RequestBudget(RequestBudget.Limits(), at: 0))
    let ids = (0..<5_000).compactMap { TimerID("t\($0)") }

    for (revision, id) in ids.enumerated() {
      session.subscriptions.add(.timers([id]), interval: 0)
      session.subscriptions.remove(.timers([id]), at: revision)
    }

    let kept = ids.indices.filter {
      session.subscriptions.deliveredRevision(of: ids[$0], published: 9_999) == $0
    }
    #expect((1_000...2_000).contains(kept.count))
    #expect(kept == Array(ids.indices.suffix(kept.count)))
  }
}

@Suite struct `Turns of the fair queue` {
  private let payers = (0..<3).map { Payer.visitors(network: "192.0.2.\($0)") }

  @Test func `rotate over the payers, in order for each of them`() {
    var workQueue = FairWorkQueue<Int>(at: 0)
    for number in 0..<9 { workQueue.append(number, of: payers[number / 3]) }

    let first = (0..<4).compactMap { _ in workQueue.popNext(at: 0) }

    #expect(first == [0, 3, 6, 1])
    #expect(workQueue.removeAll() == [4, 7, 2, 5, 8])
    #expect(workQueue.isEmpty)
  }

  @Test func `are given no credit for the time that work took`() {
    var workQueue = FairWorkQueue<Int>(at: 0)
    workQueue.append(1, of: payers[0])

    workQueue.spend(0.006, at: 0)
    workQueue.spend(0.006, at: 0)
    workQueue.endWork(at: 0.05)

    // The budget had 10 ms, and 50 ms were charged.
    #expect(workQueue.next == 0.130002)
    #expect(workQueue.popNext(at: 0.13) == nil)
    #expect(workQueue.popNext(at: 0.130002) == 1)
  }

  @Test func `cost what work was expected to take where it was quicker`() {
    var workQueue = FairWorkQueue<Int>(at: 0)
    workQueue.append(1, of: payers[0])

    workQueue.spend(0.02, at: 0)
    workQueue.endWork(at: 0.004)

    #expect(workQueue.next == 0.024002)
    #expect(!workQueue.isMeasuring)
  }
}

@Suite struct `Names of a scope` {
  @Test func `are found as if each had been looked at`() {
    var generator = SeededGenerator(state: 7)
    func word() -> String {
      let count = Int.random(in: 1...4, using: &generator)
      return String((0..<count).map { _ in "abé".randomElement(using: &generator) ?? "a" })
    }
    for _ in 0..<200 {
      var sorted = SortedNames()
      let ids = Set((0..<20).map { _ in word() }).compactMap { TimerID($0) }
      for id in ids { sorted.insert(id) }
      let patterns = (0..<3).compactMap { _ in
        TimerPattern(word() + (Bool.random(using: &generator) ? "*" : ""))
      }
      let scope = TimerScope.matching(Set(patterns))
      let after = ids[Int.random(in: ids.indices, using: &generator)]

      let expected = ids.filter(scope.contains).sorted()
      #expect(Array(sorted.names(in: scope)) == expected)
      #expect(sorted.count(in: scope) == expected.count)
      #expect(Array(sorted.names(in: scope, after: after)) == expected.filter { after < $0 })
    }
  }
}

@Suite struct `A subscription to everything` {
  @Test(arguments: [
    ("0.36", 0.35), ("0.1249", 0.1), ("0.125", 0.15), ("0.1001", 0.1), ("3599.99", 3_600),
  ])
  func `gets the nearest supported interval, which the reply names`(_ wish: String, _ given: Double)
  {
    var bench = HubBench.make()
    bench.start(1)
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.send(
      #"{"id":1,"command":"subscribe","timers":"*","interval":\#(wish)}"#, from: connection)

    #expect(bench.messages(to: connection).first?.number("interval") == given)
  }

  @Test(arguments: ["0", "0.1", "0.25", "1", "3600"])
  func `keeps a supported interval, which the reply leaves out`(_ interval: String) {
    var bench = HubBench.make()
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.send(
      #"{"id":1,"command":"subscribe","timers":"*","interval":\#(interval)}"#, from: connection)
    bench.send(
      #"{"id":2,"command":"subscribe","timer":"tea","interval":0.1001}"#, from: connection)

    let replies = bench.messages(to: connection).filter(\.isReply)
    #expect(replies.allSatisfy { $0.isOK == true && !$0.has("interval") })
  }

  @Test func `ticks at that interval`() {
    var bench = HubBench.make()
    bench.start(1)
    let connection = bench.subscriber(to: "*", every: "0.26")

    bench.advance(1)

    #expect(bench.heard(by: connection).count == 4)
  }

  @Test func `has one interval, however it was asked for`() {
    var bench = HubBench.withTokens(anonymous: .view)
    let connection = bench.connect([QueryItem("timer", "*"), QueryItem("interval", "0.1")])
    for interval in ["0.15", "0.2", "0.25"] {
      bench.send(
        #"{"command":"subscribe","timers":"*","interval":\#(interval),"parts":true}"#,
        from: connection)
    }
    bench.send(#"{"command":"authenticate","token":"secret-cook"}"#, from: connection)

    #expect(bench.hub.channels.commonTickChannels.count == 1)
    bench.disconnect(connection)
    #expect(bench.hub.channels.commonTickChannels.isEmpty)
  }

  @Test func `receives at each interval the changes since another interval's tick`() {
    var bench = HubBench.make()
    bench.start(2)
    let quick = bench.subscriber(to: "*", every: "0.1")
    let slow = bench.subscriber(to: "*", every: "0.2")

    bench.advance(0.15)
    let first = bench.messages(to: slow).last { $0.cause == "tick" }
    bench.ask(#"{"command":"finish","timer":"t0"}"#)
    bench.advance(0.2)

    #expect(first?.timers.count == 2)
    #expect(bench.messages(to: quick).last { $0.cause == "tick" }?.timers.count == 1)
    #expect(bench.messages(to: slow).last { $0.cause == "tick" }?.timers.count == 1)
  }
}

@Suite struct `Ticks of single timers` {
  private func bench() -> HubBench {
    HubBench.make { $0.ticksMax = 100 }
  }

  private func subscribe(_ range: Range<Int>, every interval: String) -> String {
    let names = range.map { "\"t\($0)\"" }.joined(separator: ",")
    return #"{"id":1,"command":"subscribe","timers":[\#(names)],"interval":\#(interval)}"#
  }

  private func reply(_ json: String, from connection: ConnectionID, _ bench: inout HubBench)
    -> Message?
  {
    _ = bench.messages(to: connection)
    bench.send(json, from: connection)
    return bench.messages(to: connection).first
  }

  @Test func `at an interval of a single payer are bounded, and the error names the remedy`() {
    var bench = bench()
    let one = bench.connect()
    let other = bench.connect()

    #expect(reply(subscribe(0..<10, every: "0.1"), from: one, &bench)?.isOK == true)
    let refused = reply(subscribe(0..<1, every: "0.1001"), from: other, &bench)

    #expect(refused?.code == "tooManySubscriptions")
    #expect(refused?.error?.text("message")?.contains("longer interval") == true)
    #expect(reply(subscribe(0..<1, every: "0"), from: other, &bench)?.isOK == true)
  }

  @Test func `are free where the interval is already in use`() {
    var bench = bench()

    for _ in 0..<250 {
      let screen = bench.connect()
      #expect(reply(subscribe(0..<10, every: "0.1"), from: screen, &bench)?.isOK == true)
    }
  }

  @Test func `are bounded separately for another address`() {
    var bench = bench()
    _ = reply(subscribe(0..<10, every: "0.1"), from: bench.connect(), &bench)
    let elsewhere = bench.connect(Handshake(peerAddress: "192.0.2.7"))

    #expect(reply(subscribe(0..<10, every: "0.1001"), from: elsewhere, &bench)?.isOK == true)
  }

  @Test func `can be exchanged for others, and are given back`() {
    var bench = bench()
    let one = bench.connect()
    let other = bench.connect()
    _ = reply(subscribe(0..<10, every: "0.1"), from: one, &bench)

    #expect(reply(subscribe(0..<10, every: "0.2"), from: one, &bench)?.isOK == true)
    #expect(reply(subscribe(10..<15, every: "0.1"), from: other, &bench)?.isOK == true)
    #expect(reply(subscribe(15..<16, every: "0.1"), from: other, &bench)?.isOK == false)
    bench.disconnect(one)
    #expect(reply(subscribe(15..<20, every: "0.1"), from: other, &bench)?.isOK == true)
    _ = reply(#"{"id":2,"command":"unsubscribe","timers":"*"}"#, from: other, &bench)
    #expect(reply(subscribe(20..<30, every: "0.1"), from: other, &bench)?.isOK == true)
  }

  @Test func `of one instant are the same at each interval`() {
    var bench = HubBench.make()
    bench.start(1)
    let subscribers = ["0.1", "0.2", "0.5"].map { bench.subscriber(to: "t0", every: $0) }

    bench.advance(1)

    let last = subscribers.map { bench.messages(to: $0).last?.description }
    #expect(Set(last) == ["tick t0 299"])
  }
}

extension HubBench {
  /// A bench on which this many countdowns run, named `t0`, `t1` and so on.
  fileprivate mutating func start(_ count: Int) {
    for number in 0..<count {
      let connection = connect(Handshake(peerAddress: "198.51.100.1"))
      send(
        #"{"command":"start","timer":"t\#(number)","duration":300}"#, from: connection)
      disconnect(connection)
      if number % 60 == 59 { store() }
    }
    store()
  }
}
