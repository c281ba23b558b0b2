import Testing
import TimerCore

@Suite struct `A lap` {
  @Test func `keeps the time elapsed at the press, oldest first`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.lap)
    bench.advance(2.5)
    try bench.apply(.lap)

    #expect(bench.timer?.laps == [10, 12.5])
    #expect(bench.status == .running)
    #expect(bench.elapsed == 12.5)
  }

  @Test func `counts at the instant of the press`() throws {
    var bench = TimerBench.stopwatch()
    bench.advance(1)

    try bench.apply(.lap, at: bench.now - 0.75)

    #expect(bench.timer?.laps == [10.25])
  }

  @Test func `leaves pauses out, as the elapsed time does`() throws {
    var bench = TimerBench.stopwatch()
    try bench.apply(.pause)
    bench.advance(100)
    try bench.apply(.resume)
    bench.advance(1)

    try bench.apply(.lap)

    #expect(bench.timer?.laps == [11])
  }

  @Test func `may be as long as nothing`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.lap)
    try bench.apply(.lap)

    #expect(bench.timer?.laps == [10, 10])
  }

  @Test(arguments: [
    (TimerBench.Past.unknown, TimerRefusal.timerHasNotStarted), (.idle, .timerHasNotStarted),
    (.finished, .timerHasNotStarted), (.paused, .timerAlreadyPaused),
  ])
  func `needs a stopwatch that runs`(_ past: TimerBench.Past, _ refusal: TimerRefusal) {
    var bench = TimerBench.stopwatch(past)
    let before = bench.timer

    #expect(throws: refusal) { try bench.apply(.lap) }

    #expect(bench.timer == before)
  }

  @Test(arguments: TimerBench.Past.active)
  func `is none of a countdown's`(_ past: TimerBench.Past) {
    var bench = TimerBench.make(past)

    #expect(throws: TimerRefusal.invalidTimerType) { try bench.apply(.lap) }
  }

  @Test func `is refused when there are a thousand`() throws {
    var bench = TimerBench.stopwatch()
    for _ in 0..<1_000 {
      bench.advance(0.001)
      try bench.apply(.lap)
    }

    #expect(throws: TimerRefusal.tooManyLaps) { try bench.apply(.lap) }

    #expect(bench.timer?.laps.count == 1_000)
    #expect(bench.timer?.laps.last == 11)
  }

  @Test func `is refused at another revision`() {
    var bench = TimerBench.stopwatch()

    #expect(throws: TimerRefusal.revisionMismatch(current: 7)) {
      try bench.apply(.lap, ifRevision: 6)
    }
  }
}

@Suite struct `The laps of a run` {
  private func bench() throws -> TimerBench {
    var bench = TimerBench.stopwatch()
    try bench.apply(.lap)
    bench.advance(5)
    return bench
  }

  @Test(arguments: [
    TimerCommand.pause, .finish(resetTime: false), .update(TimerUpdate(title: "x")),
    .addElapsedTime(5, clamp: false), .addElapsedTime(-5, clamp: false), .message(nil),
    .signal(.flash),
  ])
  func `stay over`(_ command: TimerCommand) throws {
    var bench = try bench()

    try bench.apply(command)

    #expect(bench.timer?.laps == [10])
  }

  @Test(arguments: [
    TimerCommand.reset, .finish(resetTime: true), .start(TimerStart(force: true)),
    .start(TimerStart(duration: 60, force: true)),
  ])
  func `end with it at`(_ command: TimerCommand) throws {
    var bench = try bench()

    try bench.apply(command)

    #expect(bench.timer?.laps == [])
  }

  @Test func `are gone when a finished stopwatch starts again`() throws {
    var bench = try bench()
    try bench.apply(.finish(resetTime: false))

    try bench.apply(.start(TimerStart()))

    #expect(bench.timer?.laps == [])
  }

  @Test func `are gone with a timer that is removed`() throws {
    var bench = try bench()
    try bench.apply(.remove)

    try bench.apply(.start(TimerStart()))

    #expect(bench.timer?.laps == [])
  }

  @Test func `bound how far a stopwatch is set back`() throws {
    var bench = try bench()

    #expect(throws: TimerRefusal.outOfRange(field: "seconds", limit: -5)) {
      try bench.apply(.addElapsedTime(-5.000001, clamp: false))
    }
    try bench.apply(.addElapsedTime(-100, clamp: true))

    #expect(bench.elapsed == 10)
    try bench.apply(.lap)
    #expect(bench.timer?.laps == [10, 10])
  }

  @Test func `bound it while it is paused too`() throws {
    var bench = try bench()
    try bench.apply(.pause)
    bench.advance(50)

    #expect(throws: TimerRefusal.outOfRange(field: "seconds", limit: -5)) {
      try bench.apply(.addElapsedTime(-6, clamp: false))
    }
  }

  @Test func `never go back, though one lies ahead in a file written by hand`() throws {
    var bench = try bench()
    bench.timer?.laps = [10, 20]

    try bench.apply(.lap)

    #expect(bench.timer?.laps == [10, 15, 20])
    #expect(throws: TimerRefusal.outOfRange(field: "seconds", limit: 0)) {
      try bench.apply(.addElapsedTime(-1, clamp: false))
    }
  }

  @Test func `are the same on another clock`() throws {
    let timer = try #require(try bench().timer)

    #expect(timer.shifted(by: 3_600).laps == [10])
  }
}
