import Testing
import TimerCore
import WebSocketTransport

@Suite struct `Laps of a shared stopwatch` {
  private func laps(_ state: Message?) -> [Double]? { state?["laps"] as? [Double] }

  /// A stopwatch with two laps, and a subscriber to its changes and to a tick each second.
  private func bench() -> (bench: HubBench, subscriber: ConnectionID) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"run"}"#)
    let subscriber = bench.subscriber(to: "run", every: "1")
    bench.wait(0.25)
    bench.ask(#"{"command":"lap","timer":"run"}"#)
    bench.wait(0.25)
    bench.ask(#"{"command":"lap","timer":"run"}"#)
    return (bench, subscriber)
  }

  @Test func `are shown with the cause, and left out of ticks`() {
    var (bench, subscriber) = bench()

    bench.advance(1)
    let heard = bench.messages(to: subscriber)

    #expect(heard.map(\.cause) == ["lapped", "lapped", "tick"])
    #expect(heard.map { laps($0.timers.first) } == [[0.25], [0.25, 0.5], nil])
    #expect(heard[2].timers.first?.revision == heard[1].timers.first?.revision)
  }

  @Test func `are shown to later subscribers, and in replies`() {
    var (bench, _) = bench()
    let newcomer = bench.connect()
    _ = bench.messages(to: newcomer)

    bench.send(#"{"command":"subscribe","timer":"run"}"#, from: newcomer)

    #expect(laps(bench.messages(to: newcomer).last?.timers.first) == [0.25, 0.5])
    #expect(laps(bench.ask(#"{"command":"get","timer":"run"}"#).timer) == [0.25, 0.5])
    #expect(laps(bench.ask(#"{"command":"list"}"#).timers.first) == [0.25, 0.5])
    #expect(laps(Message(bench.http("GET", "/api/timers/run").body).timer) == [0.25, 0.5])
  }

  @Test func `are there after a restart`() {
    var bench = bench().bench.restarted(onAnotherBoot: true)

    #expect(laps(bench.ask(#"{"command":"get","timer":"run"}"#).timer) == [0.25, 0.5])
  }

  @Test func `are made once under one name`() {
    var (bench, _) = bench()
    let lap = #"{"command":"lap","timer":"run","requestId":"r"}"#

    let first = bench.ask(lap)
    bench.wait(1)
    let second = bench.ask(lap)

    #expect(laps(first.timer) == [0.25, 0.5, 0.5])
    #expect(laps(second.timer) == [0.25, 0.5, 0.5])
  }

  @Test func `are taken back when the disk refuses`() {
    var (bench, _) = bench()
    let connection = bench.connect()
    _ = bench.messages(to: connection)

    bench.send(#"{"command":"lap","timer":"run"}"#, from: connection)
    bench.failStore()
    let reply = bench.messages(to: connection).first

    #expect(reply?.code == "storageFailed")
    #expect(laps(reply?.timer) == [0.25, 0.5])
  }

  @Test func `are a thousand at most`() {
    var (bench, _) = bench()
    let connection = bench.connect()
    for _ in 0..<998 {
      bench.wait(0.001)
      bench.send(#"{"command":"lap","timer":"run"}"#, from: connection)
    }
    bench.store()

    let refusal = bench.ask(#"{"command":"lap","timer":"run"}"#)

    #expect(refusal.code == "outOfRange")
    #expect(refusal.error?.number("limit") == 1_000)
    #expect(laps(refusal.timer)?.count == 1_000)
  }

  @Test(arguments: [
    (#"{"command":"start","timer":"run","duration":60,"force":true}"#, 409, "invalidTimerType"),
    (#"{"command":"pause","timer":"run"}"#, 409, "timerAlreadyPaused"),
    (#"{"command":"finish","timer":"run"}"#, 409, "timerHasNotStarted"),
    (#"{"command":"remove","timer":"run"}"#, 409, "timerHasNotStarted"),
  ])
  func `are refused by HTTP after`(_ json: String, _ status: Int, _ code: String) {
    var (bench, _) = bench()
    bench.ask(json)

    let response = bench.http("POST", "/api/timers/run/lap")

    #expect(response.status == status)
    #expect(Message(response.body).code == code)
  }
}

@Suite struct `A message to the speaker` {
  private func bench() -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"stage","duration":300}"#)
    return bench
  }

  private func shown(_ state: Message?, _ member: String, _ name: String) -> String? {
    (state?[member] as? [String: Any])?[name] as? String
  }

  @Test func `is part of the state, in ticks too`() {
    var bench = bench()
    let subscriber = bench.subscriber(to: "stage", every: "1")
    bench.wait(0.5)

    bench.ask(#"{"command":"message","timer":"stage","text":"Wrap\nup"}"#)
    bench.ask(#"{"command":"signal","timer":"stage","signal":"flash"}"#)
    bench.advance(1)
    let heard = bench.messages(to: subscriber)

    #expect(heard.map(\.cause) == ["updated", "updated", "tick"])
    #expect(
      heard.map { shown($0.timers.first, "message", "text") } == [
        "Wrap\nup", "Wrap\nup", "Wrap\nup",
      ])
    #expect(heard.map { shown($0.timers.first, "signal", "kind") } == [nil, "flash", "flash"])
    let sentAt = (heard[1].timers.first?["signal"] as? [String: Any])?["sentAt"] as? Double
    #expect(sentAt == (HubBench.start + 0.5).sinceEpoch.inSeconds)
  }

  @Test func `is absent when it is taken away`() {
    var bench = bench()
    bench.ask(#"{"command":"message","timer":"stage","text":"Wrap up"}"#)
    bench.ask(#"{"command":"signal","timer":"stage","signal":"blackout"}"#)

    bench.ask(#"{"command":"message","timer":"stage","text":null}"#)
    let state = bench.ask(#"{"command":"signal","timer":"stage","signal":"none"}"#).timer

    #expect(state?.has("message") == false)
    #expect(state?.has("signal") == false)
  }

  @Test func `is there after a restart, as of the same moment of the new clock`() {
    var bench = bench()
    bench.ask(#"{"command":"signal","timer":"stage","signal":"flash"}"#)

    // The wall clock went back while the server was down.
    bench = bench.restarted(after: 3, wallClockSteppedBy: -90)
    let signal =
      bench.ask(#"{"command":"get","timer":"stage"}"#).timer?["signal"] as? [String: Any]

    #expect(signal?["sentAt"] as? Double == (HubBench.start - 90).sinceEpoch.inSeconds)
  }

  @Test(arguments: [
    ("message", #"{"text":"x"}"#), ("message", #"{"text":""}"#), ("signal", #"{"signal":"flash"}"#),
    ("signal", #"{"signal":"none"}"#),
  ])
  func `needs a timer, by HTTP too`(_ command: String, _ body: String) {
    var bench = bench()

    let response = bench.http("POST", "/api/timers/nobody/\(command)", body: body)

    #expect(response.status == 404)
    #expect(Message(response.body).code == "unknownTimer")
  }

  @Test(arguments: [
    ("message", "{}"), ("message", #"{"text":5}"#), ("message", #"{"text":"a\tb"}"#),
    ("signal", "{}"), ("signal", #"{"signal":"off"}"#),
    ("signal", #"{"signal":"flash","text":"x"}"#),
  ])
  func `makes sense`(_ command: String, _ body: String) {
    var bench = bench()

    let response = bench.http("POST", "/api/timers/stage/\(command)", body: body)

    #expect(response.status == 400)
    #expect(Message(response.body).code == "badRequest")
    #expect(bench.pendingWrites.isEmpty)
  }

  @Test func `is forbidden where a token is limited to other timers`() {
    var bench = HubBench.withTokens()

    let reply = bench.ask(#"{"command":"message","timer":"stage","text":"x"}"#, token: "cook")

    #expect(reply.code == "forbidden")
    #expect(reply.timer == nil)
  }

  @Test func `is written into no log`() {
    var bench = bench()

    bench.ask(#"{"command":"message","timer":"stage","text":"between us"}"#)

    #expect(!bench.logged.contains { $0.contains("between us") })
  }
}
