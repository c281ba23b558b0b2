import Testing
import TimerCore

@Suite struct `Finishing a timer` {
  @Test func `keeps the final state of one that runs`() throws {
    var bench = TimerBench.make()

    try bench.apply(.finish(resetTime: false))
    bench.advance(1000)

    #expect(bench.status == .finished)
    #expect(bench.time == 290)
    #expect(bench.elapsed == 10)
    #expect(bench.timer?.run?.stopDate == (bench.now - 1000).date)
  }

  @Test func `keeps the elapsed time of one that is paused`() throws {
    var bench = TimerBench.make(.paused)
    bench.advance(100)

    try bench.apply(.finish(resetTime: false))
    bench.advance(100)

    #expect(bench.status == .finished)
    #expect(bench.elapsed == 10)
  }

  @Test func `keeps a time below zero`() throws {
    var bench = TimerBench.make(.overtime)

    try bench.apply(.finish(resetTime: false))
    bench.advance(100)

    #expect(bench.time == -5)
  }

  @Test(arguments: TimerBench.Past.active)
  func `shows nothing elapsed when the time is to be reset`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)

    try bench.apply(.finish(resetTime: true))
    bench.advance(100)

    #expect(bench.status == .finished)
    #expect(bench.elapsed == .zero)
    #expect(bench.time == 300)
  }

  @Test func `is refused the second time`() throws {
    var bench = TimerBench.make()
    try bench.apply(.finish(resetTime: false))
    let finished = bench.timer
    bench.advance(1)

    #expect(throws: TimerRefusal.timerHasNotStarted) {
      try bench.apply(.finish(resetTime: false))
    }

    #expect(bench.timer == finished)
  }

  @Test func `leaves no zero to come`() throws {
    var bench = TimerBench.make()

    try bench.apply(.finish(resetTime: false))
    bench.advance(1000)

    #expect(bench.crossZero() == nil)
  }
}

@Suite struct `Resetting a timer` {
  @Test(arguments: [TimerBench.Past.running, .paused, .overtime, .finished])
  func `shows the starting duration again, not running`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)

    try bench.apply(.reset)
    bench.advance(100)

    #expect(bench.status == nil)
    #expect(bench.time == 300)
    #expect(bench.timer?.isActive == false)
  }

  @Test func `leaves out what was added`() throws {
    var bench = TimerBench.make()
    try bench.apply(.addRemainingTime(60, clamp: false))

    try bench.apply(.reset)

    #expect(bench.time == 300)
    #expect(bench.timer?.addedTime == .zero)
  }

  @Test func `shows a stopwatch at zero`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.reset)

    #expect(bench.time == .zero)
    #expect(bench.timer?.type == .stopwatch)
  }

  @Test func `keeps the settings`() throws {
    var bench = TimerBench.make(atZero: .finish, title: "Pasta", warnings: [60, 10])
    let settings = bench.timer?.settings

    try bench.apply(.reset)

    #expect(bench.timer?.settings == settings)
  }

  @Test func `forgets a zero that was crossed`() throws {
    var bench = TimerBench.make(.overtime)

    try bench.apply(.reset)

    #expect(bench.timer?.endedAt == nil)
    #expect(bench.timer?.zeroInstant == nil)
  }
}

@Suite struct `Updating a timer` {
  @Test(arguments: TimerBench.Past.allCases.filter { $0 != .unknown })
  func `changes the settings in any status`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past, title: "Pasta")
    let run = bench.timer?.run

    try bench.apply(.update(TimerUpdate(atZero: .finish, title: "Rice", warnings: [5])))

    #expect(
      bench.timer?.settings
        == TimerSettings(type: .countdown(300), atZero: .finish, title: "Rice", warnings: [5]))
    #expect(bench.timer?.run == run)
  }

  @Test func `leaves what is not given`() throws {
    var bench = TimerBench.make(atZero: .reset, title: "Pasta", warnings: [60])

    try bench.apply(.update(TimerUpdate(warnings: [])))

    #expect(bench.timer?.settings.warnings == [])
    #expect(bench.timer?.settings.title == "Pasta")
    #expect(bench.timer?.settings.atZero == .reset)
  }

  @Test func `moves no zero`() throws {
    var bench = TimerBench.make()
    let zero = bench.timer?.zeroInstant

    try bench.apply(.update(TimerUpdate(atZero: .finish)))

    #expect(bench.timer?.zeroInstant == zero)
  }

  @Test func `brings back no zero that was crossed`() throws {
    var bench = TimerBench.make(.overtime)

    try bench.apply(.update(TimerUpdate(atZero: .finish)))
    bench.advance(1)

    #expect(bench.crossZero() == nil)
    #expect(bench.time == -6)
  }

  @Test func `is refused for an unknown timer`() {
    var bench = TimerBench()

    #expect(throws: TimerRefusal.unknownTimer) {
      try bench.apply(.update(TimerUpdate(title: "Rice")))
    }
  }

  @Test func `is refused where a countdown is too short to repeat`() {
    var bench = TimerBench.make(.idle, seconds: 0.05)

    #expect(throws: TimerRefusal.outOfRange(field: "duration", limit: 0.1)) {
      try bench.apply(.update(TimerUpdate(atZero: .repeat)))
    }
  }
}

@Suite struct `Removing a timer` {
  @Test(arguments: TimerBench.Past.allCases.filter { $0 != .unknown })
  func `forgets it in any status`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)

    try bench.apply(.remove)

    #expect(bench.timer == nil)
  }

  @Test func `is refused for an unknown timer`() {
    var bench = TimerBench()

    #expect(throws: TimerRefusal.unknownTimer) { try bench.apply(.remove) }
  }
}
