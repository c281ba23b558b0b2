import Testing
import TimerCore
import TimerProtocol

@testable import TimerServer
@testable import TimerStorage

@Suite struct `A change sent again with its idempotency key` {
  private static let add =
    #"{"id":1,"command":"addRemainingTime","timer":"tea","seconds":60,"requestId":"r-1"}"#

  /// A bench with a countdown from 3000 s that runs: it does not end within these tests.
  private func running() -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3000}"#)
    return bench
  }

  private func addedTime(_ bench: inout HubBench) -> Double? {
    bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.number("addedTime")
  }

  @Test func `is made once and answered twice while it is under way`() {
    var bench = running()
    let one = bench.connect()
    let other = bench.connect()
    bench.send(Self.add, from: one)
    bench.send(Self.add, from: other)

    bench.store()

    #expect(bench.heard(by: one) == ["hello", "ok 1"])
    #expect(bench.heard(by: other) == ["hello", "ok 1"])
    #expect(addedTime(&bench) == 60)
  }

  @Test func `is answered as the first time, though the timer has moved on`() {
    var bench = running()
    let first = bench.ask(Self.add)
    bench.wait(10)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)

    let second = bench.ask(Self.add)

    #expect(second.isOK == true)
    #expect(second.timer?.revision == first.timer?.revision)
    #expect(second.timer?.time == first.timer?.time)
    #expect(second.timer?.status == "running")
    #expect(addedTime(&bench) == 60)
  }

  @Test func `is answered under the id of the second message`() {
    var bench = running()
    bench.ask(Self.add)

    let reply = bench.ask(
      #"{"id":"two","command":"addRemainingTime","timer":"tea","seconds":60,"requestId":"r-1"}"#)

    #expect(reply.text("reply") == "two")
  }

  @Test func `is made once over a restart`() {
    var bench = running()
    let first = bench.ask(Self.add)

    var restarted = bench.restarted()
    let second = restarted.ask(Self.add)

    #expect(second.isOK == true)
    #expect(second.timer?.revision == first.timer?.revision)
    #expect(addedTime(&restarted) == 60)
  }

  @Test func `is a removal once over a restart`() {
    var bench = running()
    bench.ask(#"{"command":"remove","timer":"tea","requestId":"r-1"}"#)

    var restarted = bench.restarted()
    let reply = restarted.ask(#"{"command":"remove","timer":"tea","requestId":"r-1"}"#)

    #expect(reply.isOK == true)
  }

  @Test func `lists again what was finished`() {
    var bench = running()
    let json = #"{"command":"finishAll","requestId":"r-1"}"#
    let first = bench.ask(json)

    let second = bench.ask(json)

    #expect(first.timers.count == 1)
    #expect(second.timers.map(\.revision) == first.timers.map(\.revision))
  }

  @Test func `is made anew after ten minutes`() {
    var bench = running()
    bench.ask(Self.add)
    bench.advance(600.000001)

    bench.ask(Self.add)

    #expect(addedTime(&bench) == 120)
  }

  @Test func `is made anew after ten minutes over a restart`() {
    var bench = running()
    bench.ask(Self.add)

    var restarted = bench.restarted(after: 601)
    restarted.ask(Self.add)

    #expect(addedTime(&restarted) == 120)
  }

  @Test func `is known until ten minutes have passed`() {
    var bench = running()
    bench.ask(Self.add)
    bench.advance(599)
    bench.ask(#"{"command":"update","timer":"tea","title":"x","requestId":"r-2"}"#)

    bench.ask(Self.add)

    #expect(addedTime(&bench) == 60)
  }

  @Test func `is made when the disk refused it the first time`() {
    var bench = running()
    let connection = bench.connect()
    bench.send(Self.add, from: connection)
    bench.failStore()

    bench.ask(Self.add)

    #expect(addedTime(&bench) == 60)
  }

  @Test func `is made when the disk refused it before a restart`() {
    var bench = running()
    let remove = #"{"command":"remove","timer":"tea","requestId":"r-1"}"#
    bench.send(remove, from: bench.connect())
    bench.failStore()
    bench.ask(#"{"command":"start","timer":"rice"}"#)

    var restarted = bench.restarted()
    restarted.ask(remove)

    #expect(restarted.ask(#"{"command":"get","timer":"tea"}"#).code == "unknownTimer")
  }

  @Test func `is judged anew when it was refused`() {
    var bench = running()
    let json = #"{"command":"resume","timer":"tea","requestId":"r-1"}"#
    let first = bench.ask(json)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)

    let second = bench.ask(json)

    #expect(first.code == "timerHasNotPaused")
    #expect(second.isOK == true)
  }

  private static let others = [
    #"{"command":"addRemainingTime","timer":"tea","seconds":61,"requestId":"r-1"}"#,
    #"{"command":"addRemainingTime","timer":"tea","seconds":60,"clamp":true,"requestId":"r-1"}"#,
    #"{"command":"addRemainingTime","timer":"tea","seconds":60,"ifRevision":1,"requestId":"r-1"}"#,
    #"{"command":"addRemainingTime","timer":"rice","seconds":60,"requestId":"r-1"}"#,
    #"{"command":"pause","timer":"tea","requestId":"r-1"}"#,
    #"{"command":"finishAll","requestId":"r-1"}"#,
  ]

  @Test(arguments: others)
  func `is refused when it is another one`(_ other: String) {
    var bench = running()
    bench.ask(Self.add)

    #expect(bench.ask(other).code == "badRequest")
    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.status == "running")
  }

  @Test(arguments: others)
  func `is refused over a restart when it is another one`(_ other: String) {
    var bench = running()
    bench.ask(Self.add)

    var restarted = bench.restarted()

    #expect(restarted.ask(other).code == "badRequest")
    #expect(addedTime(&restarted) == 60)
  }

  @Test func `is refused for another timer than the one that was removed, over a restart`() {
    var bench = running()
    bench.ask(#"{"command":"start","timer":"rice","duration":3000}"#)
    bench.ask(#"{"command":"remove","timer":"tea","requestId":"r-1"}"#)

    var restarted = bench.restarted()
    let reply = restarted.ask(#"{"command":"remove","timer":"rice","requestId":"r-1"}"#)

    #expect(reply.code == "badRequest")
    #expect(restarted.ask(#"{"command":"get","timer":"rice"}"#).isOK == true)
  }

  @Test func `is the same however it is spelled`() {
    var bench = running()
    bench.ask(Self.add)

    var restarted = bench.restarted()
    let reply = restarted.ask(
      #"{"requestId":"r-\u0031","seconds":6e1,"timer":"te\u0061","clamp":false,"id":9,"command":"addRemainingTime"}"#
    )

    #expect(reply.isOK == true)
    #expect(addedTime(&restarted) == 60)
  }

  @Test func `is taken for the same after a server that did not keep what was asked`() {
    var bench = running()
    bench.ask(Self.add)
    bench.forgetFingerprints()

    var restarted = bench.restarted()

    #expect(restarted.ask(Self.add).isOK == true)
    #expect(addedTime(&restarted) == 60)
  }
}

@Suite struct `The cache of idempotent requests` {
  private static let request = RequestFingerprint(7)

  private func key(_ text: String, _ principal: Principal? = .visitors) -> ScopedIdempotencyKey {
    guard let key = IdempotencyKey(text) else {
      preconditionFailure("\(text) is no request's name")
    }
    return ScopedIdempotencyKey(key, of: principal)
  }

  private func named(
    _ text: String, _ principal: Principal = .visitors, from network: String? = "192.0.2.1"
  ) -> IdempotentRequest {
    IdempotentRequest(key: key(text, principal), fingerprint: Self.request, network: network)
  }

  @Test func `finds a request that was recorded`() {
    var idempotencyCache = IdempotencyCache()

    idempotencyCache.record(named("a"), .pending(1), at: 0)

    #expect(idempotencyCache.entry(key("a"), at: 0)?.fingerprint == Self.request)
    #expect(idempotencyCache.entry(key("b"), at: 0) == nil)
  }

  @Test func `forgets after ten minutes`() {
    var idempotencyCache = IdempotencyCache()
    idempotencyCache.record(named("a"), .made(.done), at: 0)
    idempotencyCache.record(named("b"), .made(.done), at: 1)

    idempotencyCache.record(named("c"), .made(.done), at: 600.5)

    #expect(idempotencyCache.entry(key("a"), at: 600.5) == nil)
    #expect(idempotencyCache.entry(key("b"), at: 600.5) != nil)
    #expect(idempotencyCache.entry(key("c"), at: 600.5) != nil)
  }

  @Test func `forgets a request whose change was not made`() {
    var idempotencyCache = IdempotencyCache()
    idempotencyCache.record(named("a"), .pending(1), at: 0)

    idempotencyCache.drop(key("a"))

    #expect(idempotencyCache.entry(key("a"), at: 0) == nil)
  }

  @Test func `keeps a key that was recorded again`() {
    var idempotencyCache = IdempotencyCache()
    idempotencyCache.record(named("a"), .made(.done), at: 0)
    idempotencyCache.drop(key("a"))
    idempotencyCache.record(named("a"), .made(.done), at: 500)

    idempotencyCache.record(named("b"), .made(.done), at: 700)

    #expect(idempotencyCache.entry(key("a"), at: 700) != nil)
  }

  @Test func `tells both spellings of é apart`() {
    var idempotencyCache = IdempotencyCache()

    idempotencyCache.record(named("\u{E9}"), .pending(1), at: 0)

    #expect(idempotencyCache.entry(key("e\u{301}"), at: 0) == nil)
  }

  @Test func `drops the oldest answers beyond its size, and keeps their keys`()
    throws
  {
    var idempotencyCache = IdempotencyCache()
    let tea = try #require(TimerID("tea"))

    for revision in 1...4_000 {
      let timer = SharedTimer(
        id: tea, revision: revision, settings: TimerSettings(type: .stopwatch),
        run: RestoreTimerData(.stopwatch, startingAt: 0), laps: Array(repeating: 1, count: 1_000),
        endedAt: nil, changedAt: 0)
      idempotencyCache.record(named("\(revision)"), .pending(UInt64(revision)), at: 0)
      idempotencyCache.complete(key("\(revision)"), .timer(TimerReading(timer, at: 0)))
    }

    guard
      case .restored([tea: 1], removed: false)? = idempotencyCache.entry(key("1"), at: 0)?.state,
      case .made? = idempotencyCache.entry(key("4000"), at: 0)?.state
    else {
      Issue.record("the first answer should be gone, and the last be there")
      return
    }
    #expect(idempotencyCache.entry(key("1"), at: 0)?.fingerprint == Self.request)
    let kept = (1...4_000).count {
      if case .made? = idempotencyCache.entry(key("\($0)"), at: 0)?.state { true } else { false }
    }
    #expect((1_000...2_500).contains(kept))
  }

  @Test func `doesn't grow without end`() {
    var idempotencyCache = IdempotencyCache()

    for index in 0..<50_000 {
      idempotencyCache.record(
        named("\(index)"), .made(.done), at: Instant(microseconds: Int64(index)))
    }

    #expect(idempotencyCache.entry(key("0"), at: Instant(microseconds: 50_000)) == nil)
    #expect(idempotencyCache.entry(key("49999"), at: Instant(microseconds: 50_000)) != nil)
    let kept = (0..<50_000).count {
      idempotencyCache.entry(key("\($0)"), at: Instant(microseconds: 50_000)) != nil
    }
    #expect((20_000...22_000).contains(kept))
  }

  @Test func `separates equal keys of two principals`() {
    var idempotencyCache = IdempotencyCache()
    let stage = Principal(text: "stage")
    idempotencyCache.record(named("1", stage, from: nil), .pending(1), at: 0)

    #expect(idempotencyCache.entry(key("1", stage), at: 0) != nil)
    #expect(idempotencyCache.entry(key("1"), at: 0) == nil)
    #expect(idempotencyCache.entry(key("1", Principal(text: "lobby")), at: 0) == nil)
  }

  @Test func `matches a record without a principal for any principal`() {
    var contents = TimerFolder.Contents()
    contents.requests = [
      IdempotencyEntry(
        timer: "tea", requestId: "1", revision: 4, at: 5, removed: false, fingerprint: 7,
        principal: nil, network: nil)
    ]
    var idempotencyCache = IdempotencyCache()
    idempotencyCache.restore(contents, on: ClockReading(server: 6, boot: 6, bootID: "b"))

    #expect(idempotencyCache.entry(key("1", Principal(text: "stage")), at: 6) != nil)
    #expect(idempotencyCache.entry(key("1"), at: 6) != nil)
  }

  @Test(arguments: [Principal(text: "stage"), .visitors])
  func `loses no principal's keys to another's flood`(_ principal: Principal) {
    var idempotencyCache = IdempotencyCache()
    let network = principal == .visitors ? "192.0.2.7" : nil
    for index in 0..<100 {
      idempotencyCache.record(named("mine \(index)", principal, from: network), .made(.done), at: 0)
    }

    for index in 0..<60_000 { idempotencyCache.record(named("\(index)"), .made(.done), at: 1) }

    #expect(
      (0..<100).allSatisfy { idempotencyCache.entry(key("mine \($0)", principal), at: 1) != nil })
    #expect(idempotencyCache.entry(key("0"), at: 1) == nil)
    #expect(idempotencyCache.entry(key("59999"), at: 1) != nil)
  }
}
