import Testing
import TimerCore
import WebSocketTransport

@Suite struct `The end of a countdown` {
  @Test func `is sent once, with its instant`() throws {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)

    bench.advance(100)
    let ends = bench.messages(to: subscriber).filter { $0.cause == "ended" }

    #expect(ends.count == 1)
    #expect(ends.first?.number("endedAt") == 1_764_480_005.25)
    #expect(ends.first?.has("late") == false)
    #expect(ends.first?.timers.first?.time == 0)
  }

  @Test func `has its own instant though the server is late`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    _ = bench.heard(by: subscriber)

    bench.jump(5.02)
    bench.store()
    let end = bench.messages(to: subscriber).first

    #expect(end?.description == "ended tea 0")
    #expect(end?.number("endedAt") == 1_764_480_005.25)
  }

  @Test func `is not sent before it is stored`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    _ = bench.heard(by: subscriber)

    bench.jump(5)
    let early = bench.heard(by: subscriber)
    bench.store()

    #expect(early == [])
    #expect(bench.heard(by: subscriber) == ["ended tea 0"])
  }

  @Test func `is sent once though the disk refused it at first`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    _ = bench.heard(by: subscriber)
    bench.jump(5)
    bench.failStore()

    bench.advance(30)
    let ends = bench.messages(to: subscriber)

    #expect(ends.map(\.description) == ["ended tea 0"])
    #expect(ends.first?.number("endedAt") == 1_764_480_005.25)
  }

  @Test(arguments: [
    ("overtime", "running", 0), ("finish", "finished", 0), ("reset", "idle", 5),
    ("repeat", "running", 5),
  ])
  func `does what the policy says, in one message`(
    _ atZero: String, _ status: String, _ time: Double
  ) throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5,"atZero":"\#(atZero)"}"#)
    let subscriber = bench.subscriber()

    bench.advance(6)
    let messages = bench.messages(to: subscriber)

    #expect(messages.map(\.cause) == ["ended"])
    #expect(messages.first?.timers.first?.status == status)
    #expect(messages.first?.timers.first?.time == time)
  }

  @Test func `comes again at each zero of one that repeats`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":0.5,"atZero":"repeat"}"#)
    let subscriber = bench.subscriber()

    bench.advance(500)
    let ends = bench.messages(to: subscriber)

    #expect(
      ends.compactMap { $0.number("endedAt") }
        == (1...1_000).map { 1_764_480_000.25 + Double($0) * 0.5 })
  }

  @Test func `comes at once for a start whose press was longer ago than it lasts`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()

    bench.ask(
      #"{"command":"start","timer":"tea","duration":1,"at":1764479998.5}"#)
    let messages = bench.messages(to: subscriber)

    #expect(messages.map(\.description) == ["started tea 1", "ended tea 0"])
    #expect(messages.last?.number("endedAt") == 1_764_479_999.5)
  }

  @Test func `comes before a command of the same instant`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    let subscriber = bench.subscriber()
    bench.wait(5)

    bench.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: subscriber)
    bench.store()

    #expect(bench.heard(by: subscriber) == ["ended tea 0", "ok 1", "paused tea 0"])
  }

  @Test func `moves with a pause`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":60}"#)
    bench.advance(20)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)
    bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":30}"#)
    bench.advance(100)
    let subscriber = bench.subscriber()

    bench.ask(#"{"command":"resume","timer":"tea"}"#)
    bench.advance(300)
    let messages = bench.messages(to: subscriber)

    #expect(messages.map(\.description) == ["resumed tea 70", "ended tea 0"])
    #expect(messages.last?.number("endedAt") == 1_764_480_190.25)
  }

  @Test func `follows a clamped adjustment at once`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":60}"#)
    let subscriber = bench.subscriber()

    bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":-100,"clamp":true}"#)
    bench.advance(10)

    #expect(bench.heard(by: subscriber) == ["adjusted tea 0", "ended tea 0"])
  }

  @Test func `doesn't come for one that was finished, reset or removed`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(to: "*")
    for command in ["finish", "reset", "remove"] {
      bench.ask(#"{"command":"start","timer":"\#(command)","duration":5}"#)
      bench.ask(#"{"command":"\#(command)","timer":"\#(command)"}"#)
    }

    bench.advance(10)

    #expect(!bench.heard(by: subscriber).contains { $0.hasPrefix("ended") })
  }

  @Test func `comes after an adjustment by 60 s once, at 120`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":60}"#)
    let subscriber = bench.subscriber()
    bench.advance(50)
    bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":60}"#)

    bench.advance(200)
    let ends = bench.messages(to: subscriber).filter { $0.cause == "ended" }

    #expect(ends.map { $0.number("endedAt") } == [1_764_480_120.25])
  }
}

@Suite struct `A restart` {
  @Test func `brings back what ran, was paused and was finished`() {
    var bench = HubBench.make()
    for name in ["running", "paused", "finished"] {
      bench.ask(#"{"command":"start","timer":"\#(name)","duration":300}"#)
    }
    bench.wait(10)
    bench.ask(#"{"command":"pause","timer":"paused"}"#)
    bench.ask(#"{"command":"finish","timer":"finished"}"#)

    var restarted = bench.restarted(after: 3)

    let states = restarted.ask(#"{"command":"list"}"#).timers
    #expect(states.map { $0.text("timer") } == ["finished", "paused", "running"])
    #expect(states.map(\.status) == ["finished", "paused", "running"])
    #expect(states.map(\.time) == [290, 290, 287])
  }

  @Test(arguments: [3600, -3600] as [Seconds])
  func `keeps time though the wall clock was stepped meanwhile`(_ step: Seconds) throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.wait(10)

    var restarted = bench.restarted(after: 3, wallClockSteppedBy: step)

    let state = try #require(restarted.ask(#"{"command":"get","timer":"tea"}"#).timer)
    #expect(state.time == 287)
    #expect(state.number("startDate") == 1_764_480_000.25 + step.inSeconds)
  }

  @Test func `of the machine counts by the wall clock`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    var restarted = bench.restarted(after: 60, onAnotherBoot: true)

    #expect(restarted.ask(#"{"command":"get","timer":"tea"}"#).timer?.time == 240)
  }

  @Test func `of the machine never takes elapsed time back`() throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.advance(100)
    bench.ask(#"{"command":"update","timer":"tea","title":"x"}"#)

    var restarted = bench.restarted(after: 60, wallClockSteppedBy: -7200, onAnotherBoot: true)

    let elapsed = try #require(
      restarted.ask(#"{"command":"get","timer":"tea"}"#).timer?.number("elapsedTime"))
    #expect(elapsed >= 100)
  }

  @Test func `keeps one that was paused below zero`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.advance(10)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)

    var restarted = bench.restarted(after: 100)

    let state = restarted.ask(#"{"command":"get","timer":"tea"}"#).timer
    #expect(state?.time == -5)
    #expect(state?.status == "paused")
  }

  @Test func `sends no end that was sent before`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.advance(10)

    var restarted = bench.restarted()
    restarted.store()
    let connection = restarted.connect([QueryItem("timer", "tea")])
    restarted.advance(0.5)

    #expect(restarted.heard(by: connection) == ["hello", "subscribed tea -8"])
  }

  @Test func `has another epoch`() {
    let bench = HubBench.make()

    var restarted = bench.restarted()
    let connection = restarted.connect()

    #expect(restarted.messages(to: connection).first?.text("epoch") == "epoch-2")
  }

  @Test func `loses what was not answered`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"command":"start","timer":"tea","duration":5}"#, from: connection)

    var restarted = bench.restarted()

    #expect(restarted.ask(#"{"command":"list"}"#).timers.isEmpty)
  }
}

@Suite struct `An end while the server was down` {
  private static let query = [QueryItem("timer", "tea"), QueryItem("interval", "0")]

  /// A server that starts 3 s after the zero of `tea`.
  private func restarted(atZero: String = "overtime") -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5,"atZero":"\#(atZero)"}"#)
    return bench.restarted(after: 8)
  }

  @Test func `is sent right after the restart, marked late`() throws {
    var bench = restarted()
    let connection = bench.connect(Self.query)
    let early = bench.heard(by: connection)

    bench.store()
    let messages = bench.messages(to: connection)

    #expect(!early.contains { $0.hasPrefix("ended") })
    #expect(messages.map(\.cause) == ["restored", "ended"])
    #expect(messages.last?["late"] as? Bool == true)
    #expect(messages.last?.number("endedAt") == 1_764_480_005.25)
  }

  @Test func `is sent to clients that connect within a minute`() {
    var bench = restarted()
    bench.store()
    bench.advance(59)

    let connection = bench.connect(Self.query)
    let messages = bench.messages(to: connection).dropFirst()

    #expect(messages.map(\.cause) == ["subscribed", "restored", "ended"])
    #expect(messages.last?["late"] as? Bool == true)
  }

  @Test func `is not sent to clients that connect later`() {
    var bench = restarted()
    bench.store()
    bench.advance(60.000001)

    let connection = bench.connect(Self.query)

    #expect(bench.messages(to: connection).dropFirst().map(\.cause) == ["subscribed"])
  }

  @Test func `is sent once to each client`() {
    var bench = restarted()
    bench.store()
    let connection = bench.connect(Self.query)
    _ = bench.heard(by: connection)

    bench.send(#"{"id":1,"command":"subscribe","timers":"*","interval":0}"#, from: connection)
    bench.send(#"{"id":2,"command":"subscribe","timer":"tea","interval":0}"#, from: connection)
    bench.advance(5)

    #expect(!bench.heard(by: connection).contains { $0.hasPrefix("ended") })
  }

  @Test func `is not sent to subscribers of other timers`() {
    var bench = restarted()
    bench.store()

    let connection = bench.connect([QueryItem("timer", "rice")])

    #expect(bench.heard(by: connection) == ["hello", "subscribed"])
  }

  @Test func `costs subscribers of another timer nothing`() {
    func cost(_ ended: Int) -> Duration {
      var bench = HubBench.make(timersMax: 5_000)
      for number in 0..<ended {
        bench.ask(#"{"command":"start","timer":"t\#(number)","duration":5}"#)
      }
      var restarted = bench.restarted(after: 8)
      restarted.store()
      return ThreadTime.least { _ = restarted.connect([QueryItem("timer", "rice")]) }
    }

    #expect(cost(2_000) < cost(1) * 8)
  }

  @Test func `is sent once over several restarts`() {
    var bench = restarted()
    bench.store()
    let connection = bench.connect(Self.query)
    bench.store()
    let first = bench.heard(by: connection).filter { $0.hasPrefix("ended") }

    var again = bench.restarted()
    again.store()
    let other = again.connect(Self.query)
    again.store()

    #expect(first.count == 1)
    #expect(!again.heard(by: other).contains { $0.hasPrefix("ended") })
  }

  @Test func `is sent by a later server when no client received it`() {
    var bench = restarted()
    bench.store()

    var again = bench.restarted()
    again.store()
    let connection = again.connect(Self.query)

    #expect(again.heard(by: connection).filter { $0.hasPrefix("ended") }.count == 1)
  }

  @Test(arguments: [("finish", "finished", 0), ("reset", "idle", 5), ("repeat", "running", 2)])
  func `does what the policy says at the zero itself`(
    _ atZero: String, _ status: String, _ time: Double
  ) {
    var bench = restarted(atZero: atZero)
    bench.store()

    let state = bench.ask(#"{"command":"get","timer":"tea"}"#).timer
    #expect(state?.status == status)
    #expect(state?.time == time)
  }
}
