import Testing
import TimerCore

@Suite struct `Starting a timer of a new name` {
  @Test func `makes a countdown when a duration is given`() throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart(duration: 90.5)))

    #expect(bench.timer?.type == .countdown(90.5))
    #expect(bench.status == .running)
    #expect(bench.time == 90.5)
    #expect(bench.elapsed == .zero)
  }

  @Test func `makes a stopwatch when nothing is given`() throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart()))

    #expect(bench.timer?.type == .stopwatch)
    #expect(bench.time == .zero)
  }

  @Test func `makes a stopwatch when that is said`() throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart(kind: .stopwatch)))

    #expect(bench.timer?.type == .stopwatch)
  }

  @Test func `takes the instant of the command for the start of the run`() throws {
    var bench = TimerBench(now: 1_764_480_000.000001)

    try bench.apply(.start(TimerStart(duration: 5)))

    #expect(bench.timer?.run?.startDate == Instant(microseconds: 1_764_480_000_000_001).date)
    #expect(bench.timer?.changedAt == Instant(microseconds: 1_764_480_000_000_001))
  }

  @Test func `goes on below zero when no end policy is given`() throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart(duration: 5)))

    #expect(bench.timer?.settings == TimerSettings(type: .countdown(5), atZero: .overtime))
  }

  @Test func `takes title, warnings and end policy`() throws {
    var bench = TimerBench()
    let wanted = TimerUpdate(atZero: .finish, title: "Pasta", warnings: [60, 10.5])

    try bench.apply(.start(TimerStart(duration: 300, settings: wanted)))

    #expect(
      bench.timer?.settings
        == TimerSettings(
          type: .countdown(300), atZero: .finish, title: "Pasta", warnings: [60, 10.5]))
  }

  @Test func `is the same with force`() throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart(duration: 5, force: true)))

    #expect(bench.time == 5)
  }

  @Test func `is refused for a countdown without a duration`() {
    var bench = TimerBench()

    let refusal = #expect(throws: TimerRefusal.self) {
      try bench.apply(.start(TimerStart(kind: .timer)))
    }

    guard case .contradiction = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(bench.timer == nil)
  }

  @Test func `is refused for a stopwatch with a duration`() {
    var bench = TimerBench()

    let refusal = #expect(throws: TimerRefusal.self) {
      try bench.apply(.start(TimerStart(duration: 5, kind: .stopwatch)))
    }

    guard case .contradiction = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
  }
}

@Suite struct `A starting duration` {
  @Test(arguments: [0.000001, 0.5, 86_399, 86_401, 360_000, 31_536_000] as [Seconds])
  func `may be up to a year`(_ duration: Seconds) throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart(duration: duration)))

    #expect(bench.time == duration)
  }

  @Test(arguments: [0, -0.000001, -5] as [Seconds])
  func `of zero or less is out of range`(_ duration: Seconds) {
    var bench = TimerBench()

    #expect(throws: TimerRefusal.outOfRange(field: "duration", limit: 0.000001)) {
      try bench.apply(.start(TimerStart(duration: duration)))
    }
  }

  @Test(arguments: [31_536_000.000001, 9_000_000_000] as [Seconds])
  func `of more than a year is out of range`(_ duration: Seconds) {
    var bench = TimerBench()

    #expect(throws: TimerRefusal.outOfRange(field: "duration", limit: 31_536_000)) {
      try bench.apply(.start(TimerStart(duration: duration)))
    }
  }

  @Test func `of a year does not end at once`() throws {
    var bench = TimerBench()
    try bench.apply(.start(TimerStart(duration: 31_536_000)))

    bench.advance(31_535_999)

    #expect(bench.crossZero() == nil)
    #expect(bench.time == 1)
  }

  @Test func `of a year ends at its last microsecond`() throws {
    var bench = TimerBench()
    try bench.apply(.start(TimerStart(duration: 31_536_000)))

    bench.advance(31_536_000)

    #expect(bench.crossZero() == TimerBench.start + 31_536_000)
  }

  @Test func `too short to repeat by itself is out of range`() {
    var bench = TimerBench()
    let start = TimerStart(duration: 0.099999, settings: TimerUpdate(atZero: .repeat))

    #expect(throws: TimerRefusal.outOfRange(field: "duration", limit: 0.1)) {
      try bench.apply(.start(start))
    }
  }
}

@Suite struct `Starting a timer again` {
  @Test(arguments: [TimerBench.Past.idle, .finished])
  func `counts the starting duration of a countdown`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)
    bench.advance(100)

    try bench.apply(.start(TimerStart()))

    #expect(bench.time == 300)
    #expect(bench.elapsed == .zero)
    #expect(bench.status == .running)
  }

  @Test(arguments: [TimerBench.Past.idle, .finished])
  func `counts a stopwatch from zero`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.stopwatch(past)

    try bench.apply(.start(TimerStart()))

    #expect(bench.timer?.type == .stopwatch)
    #expect(bench.time == .zero)
  }

  @Test func `leaves out what was added to the last run`() throws {
    var bench = TimerBench.make()
    try bench.apply(.addRemainingTime(60, clamp: false))
    try bench.apply(.finish(resetTime: false))

    try bench.apply(.start(TimerStart()))

    #expect(bench.time == 300)
    #expect(bench.timer?.addedTime == .zero)
  }

  @Test func `takes a new duration for the ones after it too`() throws {
    var bench = TimerBench.make(.finished)
    try bench.apply(.start(TimerStart(duration: 20)))
    try bench.apply(.finish(resetTime: false))

    try bench.apply(.start(TimerStart()))

    #expect(bench.time == 20)
  }

  @Test func `makes a countdown of what was a stopwatch when a duration is given`() throws {
    var bench = TimerBench.stopwatch(.finished)

    try bench.apply(.start(TimerStart(duration: 20)))

    #expect(bench.timer?.type == .countdown(20))
  }

  @Test func `makes a stopwatch of what was a countdown when that is said`() throws {
    var bench = TimerBench.make(.finished)

    try bench.apply(.start(TimerStart(kind: .stopwatch)))

    #expect(bench.timer?.type == .stopwatch)
    #expect(bench.timer?.settings.type == .stopwatch)
  }

  @Test func `needs no duration for a countdown that was one`() throws {
    var bench = TimerBench.make(.finished)

    try bench.apply(.start(TimerStart(kind: .timer)))

    #expect(bench.time == 300)
  }

  @Test func `needs a duration for a countdown that was a stopwatch`() {
    var bench = TimerBench.stopwatch(.finished)

    let refusal = #expect(throws: TimerRefusal.self) {
      try bench.apply(.start(TimerStart(kind: .timer)))
    }

    guard case .contradiction = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(bench.status == .finished)
  }

  @Test func `keeps title, warnings and end policy that are not given`() throws {
    var bench = TimerBench.make(.finished, atZero: .reset, title: "Pasta", warnings: [60])

    try bench.apply(.start(TimerStart(duration: 20)))

    #expect(
      bench.timer?.settings
        == TimerSettings(type: .countdown(20), atZero: .reset, title: "Pasta", warnings: [60]))
  }

  @Test func `replaces what is given alone`() throws {
    var bench = TimerBench.make(.finished, atZero: .reset, title: "Pasta", warnings: [60])

    try bench.apply(.start(TimerStart(settings: TimerUpdate(title: ""))))

    #expect(bench.timer?.settings.title == "")
    #expect(bench.timer?.settings.warnings == [60])
    #expect(bench.timer?.settings.atZero == .reset)
  }

  @Test func `forgets the zero of the last run`() throws {
    var bench = TimerBench.make(.overtime)
    try bench.apply(.finish(resetTime: false))

    try bench.apply(.start(TimerStart()))

    #expect(bench.timer?.endedAt == nil)
    #expect(bench.timer?.zeroInstant == bench.now + 300)
  }

  @Test func `is refused when the duration it would repeat with is too short`() throws {
    var bench = TimerBench.make(.finished, atZero: .repeat)

    #expect(throws: TimerRefusal.outOfRange(field: "duration", limit: 0.1)) {
      try bench.apply(.start(TimerStart(duration: 0.05)))
    }
  }
}

@Suite struct `Starting a timer that is under way` {
  @Test(arguments: TimerBench.Past.active)
  func `is refused and changes nothing`(_ past: TimerBench.Past) {
    var bench = TimerBench.make(past)
    let before = bench.timer

    #expect(throws: TimerRefusal.timerAlreadyStarted) {
      try bench.apply(.start(TimerStart(duration: 5)))
    }

    #expect(bench.timer == before)
  }

  @Test(arguments: TimerBench.Past.active)
  func `counts the full duration at once with force`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)

    try bench.apply(.start(TimerStart(force: true)))

    #expect(bench.time == 300)
    #expect(bench.status == .running)
    #expect(bench.timer?.run?.pausePeriods == [])
    #expect(bench.timer?.endedAt == nil)
  }

  @Test func `leaves out with force what was added`() throws {
    var bench = TimerBench.make()
    try bench.apply(.addRemainingTime(60, clamp: false))

    try bench.apply(.start(TimerStart(force: true)))

    #expect(bench.time == 300)
    #expect(bench.timer?.addedTime == .zero)
  }

  @Test func `may change the type with force`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.start(TimerStart(duration: 5, force: true)))

    #expect(bench.timer?.type == .countdown(5))
  }

  @Test func `is held to the limits with force too`() {
    var bench = TimerBench.make()
    let before = bench.timer

    #expect(throws: TimerRefusal.outOfRange(field: "duration", limit: 31_536_000)) {
      try bench.apply(.start(TimerStart(duration: 31_536_001, force: true)))
    }

    #expect(bench.timer == before)
  }
}
