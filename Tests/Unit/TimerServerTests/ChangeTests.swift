import Testing
import TimerCore

@Suite struct `A change` {
  @Test func `is neither answered nor shown before it is stored`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()
    let connection = bench.connect()
    _ = bench.heard(by: connection)

    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)
    let early = (bench.heard(by: connection), bench.heard(by: subscriber))
    let earlyList = bench.request("GET", "/api/timers")
    bench.store()

    #expect(early == ([], []))
    #expect(bench.responses[earlyList].map { Message($0.body).timers.isEmpty } == true)
    #expect(bench.heard(by: connection) == ["ok 1"])
    #expect(bench.heard(by: subscriber) == ["started tea 5"])
  }

  @Test func `is answered before it is broadcast`() {
    var bench = HubBench.make()
    let subscriber = bench.subscriber()

    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: subscriber)
    bench.store()

    #expect(bench.heard(by: subscriber) == ["ok 1", "started tea 5"])
  }

  @Test(arguments: [
    (#"{"command":"pause","timer":"tea"}"#, "paused tea 290"),
    (#"{"command":"finish","timer":"tea"}"#, "finished tea 290"),
    (#"{"command":"finish","timer":"tea","resetTime":true}"#, "finished tea 300"),
    (#"{"command":"reset","timer":"tea"}"#, "reset tea 300"),
    (#"{"command":"addRemainingTime","timer":"tea","seconds":60}"#, "adjusted tea 350"),
    (#"{"command":"update","timer":"tea","title":"x"}"#, "updated tea 290"),
    (#"{"command":"message","timer":"tea","text":"x"}"#, "updated tea 290"),
    (#"{"command":"signal","timer":"tea","signal":"flash"}"#, "updated tea 290"),
    (#"{"command":"start","timer":"tea","force":true}"#, "started tea 300"),
    (#"{"command":"remove","timer":"tea"}"#, "removed tea"),
    (#"{"command":"finishAll"}"#, "finished tea 290"),
  ])
  func `is shown once, with its cause, to all subscribers`(_ json: String, _ shown: String) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let one = bench.subscriber()
    let all = bench.subscriber(to: "*")
    let other = bench.subscriber(to: "rice")
    bench.wait(10)

    bench.ask(json)

    #expect(bench.heard(by: one) == [shown])
    #expect(bench.heard(by: all) == [shown])
    #expect(bench.heard(by: other) == [])
  }

  @Test func `is shown once to a subscriber of the timer and of all`() {
    var bench = HubBench.make()
    let connection = bench.subscriber(to: "tea")
    bench.send(#"{"id":1,"command":"subscribe","timers":"*","interval":0}"#, from: connection)
    _ = bench.heard(by: connection)

    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)

    #expect(bench.heard(by: connection) == ["started tea 5"])
  }

  @Test func `answers with the state, read at one instant`() throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.wait(37.4)

    let reply = bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":10}"#)

    let state = try #require(reply.timer)
    #expect(state.time == 272.6)
    #expect(state.number("elapsedTime") == 37.4)
    #expect(state.number("duration") == 310)
    #expect(state.number("addedTime") == 10)
  }

  @Test func `of 10 seconds more is seen in the reply, the snapshot and the next tick`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.advance(37.4)
    let subscriber = bench.subscriber(every: "1")

    bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":10}"#)
    bench.advance(1)

    #expect(bench.heard(by: subscriber) == ["adjusted tea 272.6", "tick tea 272"])
  }

  @Test func `of one timer leaves every other as it is`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"rice","duration":60}"#)
    let before = bench.ask(#"{"command":"get","timer":"rice"}"#).timer?.revision

    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)
    bench.ask(#"{"command":"remove","timer":"tea"}"#)

    let after = bench.ask(#"{"command":"get","timer":"rice"}"#).timer
    #expect(after?.revision == before)
    #expect(after?.status == "running")
  }

  @Test func `that is refused stands beside the state`() throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    let reply = bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)

    #expect(reply.code == "timerAlreadyStarted")
    #expect(reply.timer?.time == 300)
    #expect(reply.error?["retryable"] as? Bool == false)
  }

  @Test func `that goes too far gets the limit in its error`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    let reply = bench.ask(#"{"command":"addRemainingTime","timer":"tea","seconds":-400}"#)

    #expect(reply.code == "outOfRange")
    #expect(reply.error?.number("limit") == -300)
  }

  @Test(arguments: [("1e999", 31_535_700), ("-1e999", -300)] as [(String, Double)])
  func `by more than any timer allows gets the limit in its error`(
    _ seconds: String, _ limit: Double
  ) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    let reply = bench.ask(
      #"{"command":"addRemainingTime","timer":"tea","seconds":\#(seconds)}"#)

    #expect(reply.code == "outOfRange")
    #expect(reply.error?.number("limit") == limit)
  }

  @Test func `by less than any timer allows ends it when clamped`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)

    let reply = bench.ask(
      #"{"command":"addRemainingTime","timer":"tea","seconds":-1e999,"clamp":true}"#)

    #expect(reply.timer?.time == 0)
  }

  @Test func `on a revision that is gone is refused`() throws {
    var bench = HubBench.make()
    let started = bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let revision = try #require(started.timer?.revision)

    let first = bench.ask(#"{"command":"pause","timer":"tea","ifRevision":\#(revision)}"#)
    let second = bench.ask(#"{"command":"resume","timer":"tea","ifRevision":\#(revision)}"#)

    #expect(first.isOK == true)
    #expect(second.code == "revisionMismatch")
    #expect(second.timer?.status == "paused")
  }

  @Test func `counts from the instant of the press`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.wait(10)

    let reply = bench.ask(#"{"command":"pause","timer":"tea","at":1764480009.75}"#)

    #expect(reply.timer?.time == 290.5)
  }

  @Test(arguments: ["1764480008.249999", "1764480010.250001", "5", "1e300"])
  func `is refused for a press too long ago or to come`(_ press: String) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    bench.wait(10)

    #expect(
      bench.ask(#"{"command":"pause","timer":"tea","at":\#(press)}"#).code == "outOfRange")
  }

  @Test func `and 199 more within a second from two sides agree`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let sides = [bench.connect(), bench.connect()]
    let subscriber = bench.subscriber(every: "1")

    for index in 0..<200 {
      bench.wait(0.005)
      let command = index.isMultiple(of: 2) ? "pause" : "resume"
      bench.send(#"{"id":\#(index),"command":"\#(command)","timer":"tea"}"#, from: sides[index % 2])
      if index % 7 == 0 { bench.store() }
    }
    bench.store()
    let replies = sides.map { side in bench.heard(by: side).dropFirst() }
    let changes = bench.heard(by: subscriber)
    bench.advance(3)

    #expect(replies[0] == (0..<200).filter { $0 % 2 == 0 }.map { "ok \($0)" }[...])
    #expect(replies[1] == (0..<200).filter { $0 % 2 == 1 }.map { "ok \($0)" }[...])
    #expect(changes.filter { $0.hasPrefix("paused") }.count == 100)
    #expect(changes.filter { $0.hasPrefix("resumed") }.count == 100)
    #expect(changes.last == "resumed tea 299.5")
    #expect(bench.heard(by: subscriber) == ["tick tea 299", "tick tea 298", "tick tea 297"])
  }
}

@Suite struct `A change that can't be stored` {
  @Test func `is refused, and all that was built on it`() {
    var bench = HubBench.make()
    let connection = bench.subscriber()
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":5}"#, from: connection)
    bench.send(#"{"id":2,"command":"pause","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":3,"command":"start","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":4,"command":"get","timer":"tea"}"#, from: connection)

    bench.failStore()

    #expect(
      bench.heard(by: connection) == [
        "storageFailed 1", "storageFailed 2", "storageFailed 3", "unknownTimer 4",
      ])
  }

  @Test func `leaves the durable state`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let connection = bench.subscriber()
    bench.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":2,"command":"remove","timer":"tea"}"#, from: connection)

    bench.failStore()
    let messages = bench.messages(to: connection)

    #expect(messages.map(\.code) == ["storageFailed", "storageFailed"])
    #expect(messages.map { $0.timer?.status } == ["running", "running"])
    #expect(messages.map { $0.error?["retryable"] as? Bool } == [true, true])
    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.status == "running")
  }

  @Test func `may be made again`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: connection)
    bench.failStore()

    let reply = bench.ask(#"{"command":"pause","timer":"tea"}"#)

    #expect(reply.timer?.status == "paused")
  }

  @Test func `rolls back changes built on it, though they come to the disk later`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let connection = bench.subscriber()
    bench.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":2,"command":"resume","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":3,"command":"finishAll"}"#, from: connection)
    bench.send(#"{"id":4,"command":"start","timer":"rice"}"#, from: connection)

    bench.failStore(first: 1)
    bench.store()

    #expect(
      bench.heard(by: connection) == [
        "storageFailed 1", "storageFailed 2", "storageFailed 3", "ok 4",
      ])
    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.status == "running")
  }

  @Test func `rolls back nothing that was decided after it was reported`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let connection = bench.connect()
    _ = bench.heard(by: connection)
    bench.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: connection)
    bench.failStore()

    bench.send(#"{"id":2,"command":"pause","timer":"tea"}"#, from: connection)
    bench.send(#"{"id":3,"command":"resume","timer":"tea"}"#, from: connection)
    bench.store()

    #expect(bench.heard(by: connection) == ["storageFailed 1", "ok 2", "ok 3"])
  }

  @Test func `leaves what was stored before it`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    _ = bench.heard(by: connection)
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":300}"#, from: connection)
    bench.send(#"{"id":2,"command":"pause","timer":"tea"}"#, from: connection)

    bench.store(first: 1)
    bench.failStore()

    #expect(bench.heard(by: connection) == ["ok 1", "storageFailed 2"])
    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.status == "running")
  }

  @Test func `costs no other timer's change`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    _ = bench.heard(by: connection)
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":300}"#, from: connection)
    bench.failStore()

    bench.send(#"{"id":2,"command":"start","timer":"rice","duration":60}"#, from: connection)
    bench.store()

    #expect(bench.heard(by: connection) == ["storageFailed 1", "ok 2"])
  }

  @Test func `keeps sending ticks to subscribers`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber(every: "1")
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: connection)

    bench.failStore()
    bench.advance(2)

    #expect(bench.heard(by: subscriber) == ["tick tea 299", "tick tea 298"])
  }

  @Test func `puts the disk's error into the log, not into the reply`() {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea","duration":300}"#, from: connection)

    bench.failStore()

    #expect(bench.errorsLogged.contains { $0.contains("/data/") })
    #expect(
      bench.messages(to: connection).last?.error?.text("message")?.contains("/data/") == false)
  }
}

@Suite struct `Finishing all timers` {
  private func bench() -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"b","duration":300}"#)
    bench.ask(#"{"command":"start","timer":"a","duration":60}"#)
    bench.ask(#"{"command":"pause","timer":"a"}"#)
    bench.ask(#"{"command":"start","timer":"idle","duration":60}"#)
    bench.ask(#"{"command":"reset","timer":"idle"}"#)
    return bench
  }

  @Test func `finishes what runs or is paused, and lists it`() {
    var bench = bench()

    let reply = bench.ask(#"{"command":"finishAll"}"#)

    #expect(reply.timers.map { $0.text("timer") } == ["a", "b"])
    #expect(reply.timers.map(\.status) == ["finished", "finished"])
    #expect(bench.ask(#"{"command":"get","timer":"idle"}"#).timer?.status == "idle")
  }

  @Test func `lists nothing when there is nothing to finish`() {
    var bench = bench()
    bench.ask(#"{"command":"finishAll"}"#)

    let reply = bench.ask(#"{"command":"finishAll"}"#)

    #expect(reply.isOK == true)
    #expect(reply.timers.isEmpty)
  }

  @Test func `is one write, of all or of none`() {
    var bench = bench()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"finishAll"}"#, from: connection)

    #expect(bench.pendingWrites.map(\.timers.count) == [2])
    bench.failStore()

    #expect(bench.heard(by: connection) == ["hello", "storageFailed 1"])
    #expect(
      bench.ask(#"{"command":"list"}"#).timers.map(\.status) == ["paused", "running", "idle"])
  }

  @Test func `gives each its own revision`() {
    var bench = bench()

    let revisions = bench.ask(#"{"command":"finishAll"}"#).timers.compactMap(\.revision)

    #expect(Set(revisions).count == 2)
  }
}

@Suite struct `Removing` {
  @Test func `forgets the timer and says so`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber()

    let reply = bench.ask(#"{"command":"remove","timer":"tea"}"#)

    #expect(reply.isOK == true)
    #expect(bench.heard(by: subscriber) == ["removed tea"])
    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).code == "unknownTimer")
    #expect(bench.records.isEmpty)
  }

  @Test func `of an unknown timer is refused`() {
    var bench = HubBench.make()

    #expect(bench.ask(#"{"command":"remove","timer":"tea"}"#).code == "unknownTimer")
  }

  @Test func `leaves the subscription to the name`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let subscriber = bench.subscriber(every: "1")
    bench.ask(#"{"command":"remove","timer":"tea"}"#)
    bench.advance(5)

    bench.ask(#"{"command":"start","timer":"tea","duration":60}"#)
    bench.advance(1)

    #expect(bench.heard(by: subscriber) == ["removed tea", "started tea 60", "tick tea 59"])
  }

  @Test func `never lets a revision come again`() throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let before = try #require(bench.ask(#"{"command":"pause","timer":"tea"}"#).timer?.revision)
    bench.ask(#"{"command":"remove","timer":"tea"}"#)

    var restarted = bench.restarted()
    let after = try #require(
      restarted.ask(#"{"command":"start","timer":"tea"}"#).timer?.revision)

    #expect(after > before + 1)
  }
}

@Suite struct `Revisions` {
  @Test func `grow with each change of any timer, never with time`() throws {
    var bench = HubBench.make()

    var revisions: [Int] = []
    for command in ["start", "pause", "resume", "finish", "start", "reset"] {
      for timer in ["tea", "rice"] {
        bench.advance(2)
        let reply = bench.ask(#"{"command":"\#(command)","timer":"\#(timer)"}"#)
        revisions.append(try #require(reply.timer?.revision))
      }
    }

    #expect(revisions == revisions.sorted())
    #expect(Set(revisions).count == revisions.count)
  }

  @Test func `grow at the crossing of zero`() throws {
    var bench = HubBench.make()
    let before = try #require(
      bench.ask(#"{"command":"start","timer":"tea","duration":5}"#).timer?.revision)

    bench.advance(6)

    let after = try #require(bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.revision)
    #expect(after > before)
  }

  @Test func `never go back when a server dies with changes under way`() throws {
    var bench = HubBench.make()
    var last = 0
    for _ in 0..<5 {
      for index in 0..<130 {
        let command = index.isMultiple(of: 2) ? #""start","force":true"# : #""pause""#
        let reply = bench.ask(#"{"command":\#(command),"timer":"t\#(index % 3)"}"#)
        let revision = reply.timer?.revision ?? last
        #expect(reply.isOK == false || revision > last)
        last = max(last, revision)
      }
      bench = bench.restarted()
    }
  }
}

@Suite struct `The limit of timers` {
  private func full() -> HubBench {
    var bench = HubBench.make(timersMax: 2)
    bench.ask(#"{"command":"start","timer":"a","duration":5}"#)
    bench.ask(#"{"command":"start","timer":"b","duration":5}"#)
    return bench
  }

  @Test func `refuses one more`() {
    var bench = full()

    #expect(bench.ask(#"{"command":"start","timer":"c","duration":5}"#).code == "tooManyTimers")
    #expect(bench.ask(#"{"command":"list"}"#).timers.count == 2)
  }

  @Test func `leaves those that are there`() {
    var bench = full()

    #expect(bench.ask(#"{"command":"start","timer":"a","force":true}"#).isOK == true)
  }

  @Test func `has room again after a removal`() {
    var bench = full()
    bench.ask(#"{"command":"remove","timer":"a"}"#)

    #expect(bench.ask(#"{"command":"start","timer":"c","duration":5}"#).isOK == true)
  }
}
