import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

private let hour: Seconds = 3_600
private let nineHours: Seconds = 32_400

@Suite struct `A wall clock that is set` {
  @Test func `is sent to a new connection`() throws {
    var bench = HubBench.make()
    let early = try #require(bench.messages(to: bench.connect()).first)

    bench.setWallClock(ahead: nineHours)
    let late = try #require(bench.messages(to: bench.connect()).first)

    #expect(early.number("wallOffset") == 0)
    #expect(late.number("wallOffset") == 32_400)
    #expect(late["writable"] as? Bool == true)
    #expect(!late.has("reason"))
  }

  @Test func `is sent once to every connection, with the role none too`() throws {
    var bench = HubBench.withTokens()
    let connections = [
      bench.connect(token: "stage"), bench.connect(), bench.connect(token: "wall"),
    ]
    for connection in connections { _ = bench.heard(by: connection) }

    bench.setWallClock(ahead: -1.5)
    bench.advance(5)

    for connection in connections {
      let messages = bench.messages(to: connection)
      #expect(messages.map(\.description) == ["server"])
      #expect(messages.first?.number("wallOffset") == -1.5)
      #expect(messages.first?["writable"] as? Bool == true)
    }
  }

  @Test func `is not sent to a closed connection`() {
    var bench = HubBench.withTokens()
    let removed = bench.connect(token: "stage")
    let wrong = bench.connect(token: "unknown")
    bench.keep([.make("wall")])
    for connection in [removed, wrong] { _ = bench.heard(by: connection) }

    bench.setWallClock(ahead: hour)

    #expect(bench.heard(by: removed) == [])
    #expect(bench.heard(by: wrong) == [])
  }

  @Test func `may be replaced by a newer one for a slow reader`() throws {
    var bench = HubBench.make()
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.setWallClock(ahead: hour)
    let message = try #require(bench.messages(to: connection).first)

    #expect(message.frameKey != nil)
  }

  @Test func `moves no timer`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber(every: "1")

    bench.advance(1)
    bench.setWallClock(ahead: nineHours)
    bench.advance(1)

    #expect(bench.heard(by: subscriber) == ["tick tea 299", "server", "tick tea 298"])
  }

  @Test func `again and again is sent twice a second, the last time too`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    for number in 1...1_000 {
      bench.setWallClock(ahead: Seconds(integerLiteral: Int64(number)))
      bench.advance(0.001)
    }
    bench.advance(1)

    let told = bench.messages(to: connection).compactMap { $0.number("wallOffset") }
    #expect(told.count == 3)
    #expect(told.first == 1)
    #expect(told.last == 1_000)
  }

  @Test func `is logged, counted and in the health report`() {
    var bench = HubBench.make()

    bench.setWallClock(ahead: nineHours)
    bench.setWallClock(ahead: nineHours)
    bench.setWallClock(ahead: -0.25)

    #expect(
      bench.logged.filter { $0.contains("wall clock") } == [
        "the wall clock was level with the server clock, and is 32400 s ahead of it now; timers are not affected",
        "the wall clock was 32400 s ahead of the server clock, and is 0.25 s behind it now; timers are not affected",
      ])
    let metrics = String(decoding: bench.http("GET", "/metrics").body, as: UTF8.self)
    #expect(metrics.contains("\ntimersync_wall_clock_offset_seconds -0.25\n"))
    #expect(metrics.contains("\ntimersync_wall_clock_steps_total 2\n"))
    let health = Message(bench.http("GET", "/healthz").body)
    let clock = health["clock"] as? [String: Any]
    #expect(health.text("status") == "ok")
    #expect(clock?["wallOffset"] as? Double == -0.25)
    #expect(clock?["steps"] as? Int == 2)
  }

  @Test func `is checked for each second, though nothing happens`() {
    var bench = HubBench.make()
    bench.setWallClock(ahead: hour)
    bench.store()

    #expect(bench.nextDue == nil)
    #expect(bench.wakeAt == HubBench.start + 1)
    bench.advance(1)
    #expect(bench.wakeAt == HubBench.start + 2)
    bench.jump(7_200)
    #expect(bench.wakeAt == HubBench.start + 7_202)
  }
}

@Suite struct `A disk that refuses changes, in status` {
  @Test func `is sent to present and new connections, and when it is over`() throws {
    var bench = HubBench.make()
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.trouble("the disk is full")
    let told = try #require(bench.messages(to: connection).first)
    let hello = try #require(bench.messages(to: bench.connect()).first)
    bench.advance(1)
    bench.trouble(nil)

    for message in [told, hello] {
      #expect(message["writable"] as? Bool == false)
      #expect(message.text("reason") == "the disk is full")
    }
    let over = bench.messages(to: connection)
    #expect(over.map(\.description) == ["server"])
    #expect(over.first?["writable"] as? Bool == true)
    #expect(over.first?.has("reason") == false)
  }
}

@Suite struct `The expiry of a token when the wall clock is set` {
  private func bench(until end: Seconds) -> (bench: HubBench, guest: ConnectionID) {
    var bench = HubBench.withTokens(
      TokenTable([.make("guest", until: HubBench.start + end), .make("stage")]))
    let guest = bench.connect(token: "guest")
    _ = bench.heard(by: guest)
    return (bench, guest)
  }

  private func comesIn(_ bench: inout HubBench) -> Bool {
    let greetings = bench.heard(by: bench.connect(token: "guest"))
    let status = bench.http("GET", "/api/timers", headers: bearer("guest")).status
    let anonymous = bench.connect()
    bench.send(#"{"id":1,"command":"authenticate","token":"secret-guest"}"#, from: anonymous)
    let reply = bench.messages(to: anonymous).last { $0.isReply }
    #expect((greetings == ["hello"]) == (status == 200))
    #expect((greetings == ["hello"]) == (reply?.isOK == true))
    return greetings == ["hello"]
  }

  @Test func `has come when the clock is set past it`() {
    var (bench, guest) = bench(until: 60)

    bench.setWallClock(ahead: 60)

    #expect(bench.closeCodes == [guest: .policyViolation])
    #expect(!comesIn(&bench))
  }

  @Test func `comes earlier by what the clock is set on`() {
    var (bench, guest) = bench(until: 60)

    bench.setWallClock(ahead: 20)
    bench.advance(39.9)
    #expect(bench.closeCodes[guest] == nil)
    bench.advance(0.1)

    #expect(bench.closeCodes[guest] == .policyViolation)
  }

  @Test func `comes later by what the clock is set back`() {
    var (bench, guest) = bench(until: 60)

    bench.setWallClock(ahead: -hour)
    bench.advance(3_659.9)
    #expect(bench.closeCodes[guest] == nil)
    #expect(comesIn(&bench))
    bench.advance(0.1)

    #expect(bench.closeCodes[guest] == .policyViolation)
    #expect(!comesIn(&bench))
  }

  @Test func `is revoked for new connections, when the clock is set back`() {
    var (bench, guest) = bench(until: 60)
    bench.setWallClock(ahead: hour)

    bench.setWallClock(ahead: 0)

    #expect(bench.closeCodes == [guest: .policyViolation])
    #expect(comesIn(&bench))
    bench.advance(60)
    #expect(!comesIn(&bench))
  }

  @Test func `counts from the first moment of a server that starts`() {
    let (bench, _) = bench(until: 60)

    var restarted = bench.restarted(after: 10, wallClockSteppedBy: 50)

    #expect(!comesIn(&restarted))
  }
}

@Suite struct `A start after a reboot` {
  /// A server that started nine hours off; its countdown runs, and then the clock is set.
  private func set(_ step: Seconds) -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3600,"requestId":"r"}"#)
    bench.advance(30)
    bench.setWallClock(ahead: step)
    bench.store()
    return bench
  }

  private func tea(_ bench: inout HubBench) -> Message {
    bench.ask(#"{"command":"get","timer":"tea"}"#).timer ?? .none
  }

  @Test(arguments: [nineHours, -nineHours, 0.05] as [Seconds])
  func `a countdown has counted what really passed`(_ step: Seconds) {
    let bench = set(step)

    var restarted = bench.restarted(after: 570, onAnotherBoot: true)

    #expect(tea(&restarted).time == 3_000)
    #expect(tea(&restarted).status == "running")
  }

  @Test(arguments: [nineHours, -nineHours])
  func `so has one that was changed since`(_ step: Seconds) {
    var bench = set(step)
    bench.advance(30)
    bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":60}"#)

    var restarted = bench.restarted(after: 540, onAnotherBoot: true)

    #expect(tea(&restarted).time == 3_060)
  }

  @Test(arguments: [nineHours, -nineHours])
  func `and so it has after further ones`(_ step: Seconds) {
    let bench = set(step)

    var restarted = bench.restarted(after: 100, onAnotherBoot: true)
    restarted.ask(#"{"command":"start","timer":"other"}"#)
    restarted = restarted.restarted(after: 100, onAnotherBoot: true)
    restarted = restarted.restarted(after: 100, onAnotherBoot: true)
    restarted.stop()
    restarted.store()
    restarted = restarted.restarted(after: 270, onAnotherBoot: true)

    #expect(tea(&restarted).time == 3_000)
  }

  @Test(arguments: [nineHours, -nineHours])
  func `the clock may have been set while no server ran`(_ step: Seconds) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3600}"#)

    var restarted = bench.restarted(after: 30, wallClockSteppedBy: step)
    restarted.store()
    restarted = restarted.restarted(after: 570, onAnotherBoot: true)

    #expect(tea(&restarted).time == 3_000)
  }

  @Test func `nothing is written about a clock that was not set`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3600}"#)
    bench.stop()
    bench.store()

    #expect(bench.restarted(after: 30).pendingWrites == [])
    #expect(bench.restarted(after: 30, onAnotherBoot: true).pendingWrites == [])
  }

  @Test func `what the disk refused of the clocks was written again`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3600}"#)

    bench.setWallClock(ahead: nineHours)
    bench.failStore()
    bench.advance(9.9)
    #expect(bench.pendingWrites == [])
    bench.advance(0.1)
    #expect(bench.server.clock?.wallOffset == nineHours)

    var restarted = bench.restarted(after: 590, onAnotherBoot: true)
    #expect(tea(&restarted).time == 3_000)
  }

  @Test func `the next change wrote what the disk refused of the clocks`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3600}"#)
    bench.setWallClock(ahead: nineHours)
    bench.failStore()

    bench.ask(#"{"command":"start","timer":"other"}"#)

    var restarted = bench.restarted(after: 600, onAnotherBoot: true)
    #expect(tea(&restarted).time == 3_000)
  }

  @Test(arguments: [nineHours, -nineHours])
  func `a named change is known for ten minutes, and no longer`(_ step: Seconds) {
    let again = #"{"id":1,"command":"start","timer":"tea","duration":3600,"requestId":"r"}"#
    let bench = set(step)

    var soon = bench.restarted(after: 560, onAnotherBoot: true)
    var late = bench.restarted(after: 571, onAnotherBoot: true)

    #expect(soon.ask(again).isOK == true)
    #expect(late.ask(again).code == "timerAlreadyStarted")
  }

  @Test func `names of a timer that is changed again and again are known for ten minutes too`() {
    var bench = set(nineHours)
    bench = bench.restarted(after: 10, onAnotherBoot: true)
    bench.ask(#"{"command":"pause","timer":"tea","requestId":"p"}"#)

    var restarted = bench.restarted(after: 10, onAnotherBoot: true)

    let again = #"{"id":1,"command":"start","timer":"tea","duration":3600,"requestId":"r"}"#
    #expect(restarted.ask(again).isOK == true)
  }

  @Test(arguments: [nineHours, -nineHours])
  func `what a speaker was sent is as old as it is`(_ step: Seconds) throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3600}"#)
    bench.ask(#"{"command":"signal","timer":"tea","signal":"flash"}"#)
    bench.setWallClock(ahead: step)
    bench.store()

    var restarted = bench.restarted(after: 2, onAnotherBoot: true)

    let hello = try #require(restarted.messages(to: restarted.connect()).first)
    let signal = try #require(tea(&restarted)["signal"] as? [String: Any])
    let sentAt = try #require(signal["sentAt"] as? Double)
    #expect(try #require(hello.number("now")) - sentAt == 2)
  }

  @Test(arguments: [nineHours, -nineHours])
  func `an end that no client received is sent with its instant`(_ step: Seconds) throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.setWallClock(ahead: step)
    bench.store()

    bench = bench.restarted(after: 8, onAnotherBoot: true)
    bench.store()
    bench.setWallClock(ahead: step)
    bench.store()
    bench = bench.restarted(after: 2, onAnotherBoot: true)
    bench.store()
    let now = bench.now
    let connection = bench.connect([QueryItem("timer", "tea")])

    let end = try #require(bench.messages(to: connection).last { $0.cause == "ended" })
    #expect(end.number("endedAt") == (now - 5).sinceEpoch.inSeconds)
  }

  @Test func `files without a wall clock are taken as before`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":3600}"#)
    bench.forgetWallClocks()

    var later = bench.restarted(after: 600, onAnotherBoot: true)
    var back = bench.restarted(after: 600, wallClockSteppedBy: -7_200, onAnotherBoot: true)

    #expect(tea(&later).time == 3_000)
    #expect(tea(&back).time == 3_600)
  }
}
