import Testing
import TimerCore

@Suite struct `A subscription` {
  @Test func `is confirmed, then shows what there is`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let connection = bench.connect()
    bench.wait(10)

    bench.send(#"{"id":1,"command":"subscribe","timer":"tea"}"#, from: connection)

    #expect(bench.heard(by: connection) == ["hello", "ok 1", "subscribed tea 290"])
  }

  @Test func `waits for what was asked before`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":300}"#, from: connection)
    bench.send(#"{"id":2,"command":"subscribe","timer":"tea"}"#, from: connection)

    bench.store()

    #expect(bench.heard(by: connection) == ["hello", "ok 1", "ok 2", "subscribed tea 300"])
  }

  @Test func `may be to a name that does not exist yet`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()

    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    #expect(bench.heard(by: subscriber) == ["started tea 300"])
  }

  @Test func `gets a new interval by subscribing again`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber(every: "1")

    bench.send(
      #"{"id":1,"command":"subscribe","timer":"tea","interval":10}"#, from: subscriber)
    bench.advance(25)

    #expect(
      bench.heard(by: subscriber) == ["ok 1", "subscribed tea 300", "tick tea 290", "tick tea 280"])
  }

  @Test func `receives changes alone with an interval of zero`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(every: "0")
    bench.ask(#"{"command":"start","timer":"tea","duration":3}"#)

    bench.advance(10)

    #expect(bench.heard(by: subscriber) == ["started tea 3", "ended tea 0"])
  }

  @Test func `ends by unsubscribing`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber(every: "1")

    bench.send(#"{"id":1,"command":"unsubscribe","timer":"tea"}"#, from: subscriber)
    bench.advance(5)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)

    #expect(bench.heard(by: subscriber) == ["ok 1"])
    #expect(bench.nextDue == nil)
  }

  @Test func `costs no more beside a thousand others`() {
    func cost(beside others: Int) -> Duration {
      var bench = HubBench.make(subscriptionsMax: 2_000)
      let connection = bench.connect()
      for number in 0..<others {
        bench.send(#"{"command":"subscribe","timer":"t\#(number)"}"#, from: connection)
      }
      return ThreadTime.least {
        bench.send(#"{"command":"subscribe","timer":"tea"}"#, from: connection)
        bench.send(#"{"command":"unsubscribe","timer":"tea"}"#, from: connection)
      }
    }

    #expect(cost(beside: 1_000) < cost(beside: 1) * 8)
  }

  @Test func `to one timer stays when another one ends`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber(every: "1")
    bench.send(#"{"id":1,"command":"subscribe","timer":"rice"}"#, from: subscriber)
    bench.send(#"{"id":2,"command":"unsubscribe","timer":"rice"}"#, from: subscriber)
    _ = bench.heard(by: subscriber)

    bench.advance(1)

    #expect(bench.heard(by: subscriber) == ["tick tea 299"])
  }

  @Test func `costs nothing once its connection is gone`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea"}"#)
    let subscriber = bench.subscriber(every: "1")

    bench.disconnect(subscriber)

    #expect(bench.nextDue == nil)
  }

  @Test func `is refused beyond the limit, as a whole`() {
    var bench = HubBench.make(subscriptionsMax: 2)
    let connection = bench.connect()

    bench.send(#"{"id":1,"command":"subscribe","timers":["a","b","c"]}"#, from: connection)
    bench.ask(#"{"command":"start","timer":"a"}"#)

    #expect(bench.heard(by: connection) == ["hello", "tooManySubscriptions 1"])
  }

  @Test func `is counted once for each name`() {
    var bench = HubBench.make(subscriptionsMax: 2)
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.send(#"{"id":1,"command":"subscribe","timers":["a","b","a"]}"#, from: connection)
    bench.send(#"{"id":2,"command":"subscribe","timers":["a","b"]}"#, from: connection)
    bench.send(#"{"id":3,"command":"subscribe","timer":"c"}"#, from: connection)
    bench.send(#"{"id":4,"command":"unsubscribe","timer":"a"}"#, from: connection)
    bench.send(#"{"id":5,"command":"subscribe","timer":"c"}"#, from: connection)

    #expect(
      bench.heard(by: connection).filter { !$0.hasPrefix("subscribed") } == [
        "ok 1", "ok 2", "tooManySubscriptions 3", "ok 4", "ok 5",
      ])
  }
}

@Suite struct `Ticks` {
  @Test func `fall on the timer's own seconds, to the microsecond`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(every: "1")
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)

    bench.advance(7.5)
    let messages = bench.messages(to: subscriber)

    #expect(
      messages.map(\.description) == [
        "started tea 5", "tick tea 4", "tick tea 3", "tick tea 2", "tick tea 1", "ended tea 0",
        "tick tea -1", "tick tea -2",
      ])
    #expect(
      messages.compactMap { $0.timers.first?.number("lastElapsedTimeCalculatedAt") }
        == (0...7).map { 1_764_480_000.25 + Double($0) })
  }

  @Test func `show their own instant though the server is late`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(every: "1")
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    _ = bench.heard(by: subscriber)

    bench.jump(1.003)

    #expect(bench.heard(by: subscriber) == ["tick tea 299"])
    #expect(bench.wakeAt == HubBench.start + 2)
  }

  @Test(
    arguments: [(100, "tick tea 200"), (100.5, "tick tea 200"), (7200, "tick tea -6900")]
      as [(Seconds, String)])
  func `are but the newest after a long gap`(_ gap: Seconds, _ shown: String) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber(every: "1")

    bench.jump(gap)
    bench.store()

    #expect(bench.heard(by: subscriber).filter { $0.hasPrefix("tick") } == [shown])
  }

  @Test func `for all timers come together, on whole seconds of the server clock`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.ask(#"{"command":"start","timer":"rice"}"#)
    bench.ask(#"{"command":"start","timer":"paused","duration":60}"#)
    bench.ask(#"{"command":"pause","timer":"paused"}"#)
    let subscriber = bench.subscriber(to: "*", every: "1")

    bench.advance(2)
    let messages = bench.messages(to: subscriber)

    #expect(
      messages.map(\.description) == ["tick rice 0.75 tea 299.25", "tick rice 1.75 tea 298.25"])
    #expect(
      messages.compactMap { $0.timers.first?.number("lastElapsedTimeCalculatedAt") }
        == [1_764_480_001, 1_764_480_002])
  }

  @Test func `for all timers begin with the first that runs, and end with the last`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(to: "*", every: "1")
    let idle = bench.nextDue

    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.advance(1)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)
    let paused = bench.nextDue

    #expect(idle == nil)
    #expect(paused == nil)
    #expect(
      bench.heard(by: subscriber) == ["started tea 300", "tick tea 299.25", "paused tea 299"])
  }

  @Test func `come at each of several intervals`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let quick = bench.subscriber(every: "0.5")
    let slow = bench.subscriber(every: "2")

    bench.advance(2)

    #expect(
      bench.heard(by: quick) == [
        "tick tea 299.5", "tick tea 299", "tick tea 298.5", "tick tea 298",
      ])
    #expect(bench.heard(by: slow) == ["tick tea 298"])
  }

  @Test func `stop with a pause and go on from there`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":20}"#)
    let subscriber = bench.subscriber(every: "1")
    bench.advance(5)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)
    bench.advance(5.4)

    bench.ask(#"{"command":"resume","timer":"tea"}"#)
    bench.advance(1)

    #expect(
      bench.heard(by: subscriber).suffix(4) == [
        "tick tea 15", "paused tea 15", "resumed tea 15", "tick tea 14",
      ])
  }

  @Test func `of a stopwatch count up`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(every: "1")
    bench.ask(#"{"command":"start","timer":"tea"}"#)

    bench.advance(2)

    #expect(bench.heard(by: subscriber) == ["started tea 0", "tick tea 1", "tick tea 2"])
  }
}

@Suite struct `A slow reader` {
  private func heard(_ commands: [String], wait: Seconds = 0) -> [Message] {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(every: "1")
    for command in commands { bench.send(command, from: subscriber) }
    bench.store()
    bench.advance(wait)
    return bench.messages(to: subscriber)
  }

  @Test func `may miss a tick for a newer one`() {
    let messages = heard([#"{"command":"start","timer":"tea"}"#], wait: 3)

    let keys = messages.filter { $0.cause == "tick" }.map(\.frameKey)
    #expect(keys.count == 3)
    #expect(Set(keys).count == 1)
    #expect(keys.first != .some(nil))
  }

  @Test func `never misses a reply, an end or a removal`() {
    let messages = heard(
      [
        #"{"command":"start","timer":"tea","duration":1}"#, #"{"command":"get","timer":"tea"}"#,
        #"{"command":"start","timer":"rice"}"#, #"{"command":"fly"}"#,
      ], wait: 2)

    let kept = messages.filter {
      $0.isReply || $0.cause == "ended" || $0.text("event") == "removed"
    }
    #expect(kept.count == 5)
    #expect(kept.allSatisfy { $0.frameKey == nil })
  }

  @Test func `never misses one timer for another`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber(to: "*")
    bench.ask(#"{"command":"start","timer":"tea"}"#)
    bench.ask(#"{"command":"start","timer":"rice"}"#)

    let keys = bench.messages(to: subscriber).map(\.frameKey)

    #expect(Set(keys).count == 2)
  }
}
