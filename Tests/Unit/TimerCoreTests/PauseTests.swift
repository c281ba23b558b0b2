import Testing
import TimerCore

@Suite struct `A running timer` {
  @Test func `counts down`() {
    var bench = TimerBench.make()

    bench.advance(0.000001)

    #expect(bench.time == 289.999999)
    #expect(bench.elapsed == 10.000001)
  }

  @Test func `can be paused`() throws {
    var bench = TimerBench.make()

    try bench.apply(.pause)

    #expect(bench.status == .paused)
    #expect(bench.time == 290)
    #expect(bench.timer?.changedAt == bench.now)
  }

  @Test func `can't be resumed`() {
    var bench = TimerBench.make()

    #expect(throws: TimerRefusal.timerHasNotPaused) { try bench.apply(.resume) }
  }

  @Test func `can't be resumed in overtime either`() {
    var bench = TimerBench.make(.overtime)

    #expect(throws: TimerRefusal.timerHasNotPaused) { try bench.apply(.resume) }
  }

  @Test func `pauses in overtime below zero`() throws {
    var bench = TimerBench.make(.overtime)

    try bench.apply(.pause)
    bench.advance(1000)

    #expect(bench.time == -5)
    #expect(bench.status == .paused)
  }

  @Test func `goes on below zero after a pause there`() throws {
    var bench = TimerBench.make(.overtime)
    try bench.apply(.pause)
    bench.advance(1000)

    try bench.apply(.resume)
    bench.advance(2)

    #expect(bench.time == -7)
    #expect(bench.timer?.zeroInstant == nil)
  }
}

@Suite struct `A paused timer` {
  @Test func `keeps its remaining time`() {
    var bench = TimerBench.make(.paused)

    bench.advance(100_000)

    #expect(bench.time == 290)
    #expect(bench.elapsed == 10)
  }

  @Test func `counts on where it stood when it is resumed`() throws {
    var bench = TimerBench.make(.paused)
    bench.advance(50)

    try bench.apply(.resume)
    bench.advance(1)

    #expect(bench.status == .running)
    #expect(bench.time == 289)
  }

  @Test func `loses nothing when it is resumed at the instant of the pause`() throws {
    var bench = TimerBench.make(.paused)

    try bench.apply(.resume)

    #expect(bench.time == 290)
    #expect(bench.status == .running)
  }

  @Test func `can't be paused again`() {
    var bench = TimerBench.make(.paused)

    #expect(throws: TimerRefusal.timerAlreadyPaused) { try bench.apply(.pause) }
  }

  @Test func `has no zero to come`() {
    let bench = TimerBench.make(.paused)

    #expect(bench.timer?.zeroInstant == nil)
  }

  @Test func `keeps its elapsed time when the clock was set back meanwhile`() throws {
    var bench = TimerBench.make(.paused)
    bench.advance(-3600)

    try bench.apply(.resume)
    let atResume = bench.time
    bench.advance(5)

    #expect(atResume == 290)
    #expect(bench.time == 285)
  }

  // 2026-03-29 01:00 UTC and 2026-10-25 01:00 UTC: summer time begins and ends in Europe; the others
  // are midnights in Berlin, Auckland and Honolulu.
  @Test(
    arguments: [1_774_746_000, 1_792_890_000, 1_774_738_800, 1_774_695_600, 1_774_778_400]
      as [Instant])
  func `is not affected by daylight saving time or midnights`(_ turn: Instant) throws {
    var bench = TimerBench(now: turn - 10)
    try bench.apply(.start(TimerStart(duration: 60)))
    bench.now = turn - 5
    try bench.apply(.pause)
    bench.now = turn + 5

    try bench.apply(.resume)
    bench.now = turn + 15

    #expect(bench.time == 45)
  }
}

@Suite struct `A timer without a run` {
  static let commands: [TimerCommand] = [
    .pause, .resume, .finish(resetTime: false), .finish(resetTime: true),
    .addRemainingTime(5, clamp: false), .addRemainingTime(-5, clamp: true),
    .addElapsedTime(5, clamp: false), .addElapsedTime(-5, clamp: true),
  ]

  @Test(arguments: TimerBench.Past.inactive, commands)
  func `refuses what needs one`(_ past: TimerBench.Past, _ command: TimerCommand) {
    var bench = TimerBench.make(past)
    let before = bench.timer

    #expect(throws: TimerRefusal.timerHasNotStarted) { try bench.apply(command) }

    #expect(bench.timer == before)
  }

  @Test(arguments: [TimerBench.Past.unknown, .idle])
  func `refuses to be reset`(_ past: TimerBench.Past) {
    var bench = TimerBench.make(past)

    #expect(throws: TimerRefusal.timerHasNotStarted) { try bench.apply(.reset) }
  }

  @Test func `shows its starting duration while it is idle`() {
    let bench = TimerBench.make(.idle)

    #expect(bench.time == 300)
    #expect(bench.elapsed == .zero)
    #expect(bench.status == nil)
  }

  @Test func `shows zero while an idle stopwatch`() {
    let bench = TimerBench.stopwatch(.idle)

    #expect(bench.time == .zero)
  }
}

@Suite struct `A thousand pauses` {
  /// A bench whose stopwatch was paused and resumed again and again, and what it has to have counted.
  private func paused(_ times: Int) throws -> (bench: TimerBench, counted: Seconds) {
    var bench = TimerBench.stopwatch()
    var counted: Seconds = 10
    for index in 0..<times {
      let running = Seconds(microseconds: Int64(index * 7919 % 100_003) + 1)
      bench.advance(running)
      counted = counted + running
      try bench.apply(.pause)
      bench.advance(Seconds(microseconds: Int64(index * 104_729 % 999_983)))
      try bench.apply(.resume)
    }
    return (bench, counted)
  }

  @Test func `cost not a microsecond`() throws {
    let (bench, counted) = try paused(1_000)

    #expect(bench.elapsed == counted)
  }

  @Test func `are kept as 64 at most`() throws {
    let (bench, _) = try paused(1_000)

    #expect(bench.timer?.run?.pausePeriods.count == 64)
  }

  @Test func `are kept apart up to 64`() throws {
    let (bench, _) = try paused(64)

    let pauses = try #require(bench.timer?.run?.pausePeriods)
    #expect(pauses.count == 64)
    #expect(Set(pauses.map(\.pause)).count == 64)
  }

  @Test func `make one of the oldest two beyond that`() throws {
    let (before, _) = try paused(64)
    let (after, counted) = try paused(65)

    let older = try #require(before.timer?.run?.pausePeriods)
    let newer = try #require(after.timer?.run?.pausePeriods)
    #expect(newer.count == 64)
    #expect(newer[0].pause == older[0].pause)
    #expect(Array(newer[1..<63]) == Array(older[2...]))
    #expect(after.elapsed == counted)
  }

  @Test func `stay exact while the last is open`() throws {
    var (bench, counted) = try paused(200)
    bench.advance(0.123457)

    try bench.apply(.pause)
    bench.advance(77)

    #expect(bench.elapsed == counted + 0.123457)
    #expect(try #require(bench.timer?.run?.pausePeriods.count) <= 64)
  }
}
