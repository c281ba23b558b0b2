import Testing
import TimerCore

@Suite struct `Adding remaining time` {
  @Test func `lengthens what is left and leaves what has elapsed`() throws {
    var bench = TimerBench.make()

    try bench.apply(.addRemainingTime(60, clamp: false))

    #expect(bench.time == 350)
    #expect(bench.elapsed == 10)
    #expect(bench.timer?.addedTime == 60)
    #expect(bench.timer?.type == .countdown(360))
  }

  @Test func `adds up`() throws {
    var bench = TimerBench.make()

    try bench.apply(.addRemainingTime(60.000001, clamp: false))
    try bench.apply(.addRemainingTime(-20, clamp: false))

    #expect(bench.timer?.addedTime == 40.000001)
    #expect(bench.time == 330.000001)
  }

  @Test func `works on a paused countdown, which stays paused`() throws {
    var bench = TimerBench.make(.paused)

    try bench.apply(.addRemainingTime(-30, clamp: false))
    bench.advance(100)

    #expect(bench.time == 260)
    #expect(bench.status == .paused)
  }

  @Test func `starts from the negative time left in overtime`() throws {
    var bench = TimerBench.make(.overtime)

    try bench.apply(.addRemainingTime(60, clamp: false))

    #expect(bench.time == 55)
    #expect(bench.timer?.zeroInstant == bench.now + 55)
  }

  @Test func `may take exactly what is left`() throws {
    var bench = TimerBench.make()

    try bench.apply(.addRemainingTime(-290, clamp: false))

    #expect(bench.time == .zero)
    #expect(bench.crossZero() == bench.now)
  }

  @Test func `may end another time in overtime`() throws {
    var bench = TimerBench.make(.overtime)

    try bench.apply(.addRemainingTime(5, clamp: false))

    #expect(bench.crossZero() == bench.now)
  }

  @Test(
    arguments: zip(
      [TimerBench.Past.running, .paused, .overtime], [-290, -290, 5] as [Seconds]))
  func `is refused below zero, with the amount that would do`(
    _ past: TimerBench.Past, _ limit: Seconds
  ) {
    var bench = TimerBench.make(past)
    let before = bench.timer

    #expect(throws: TimerRefusal.outOfRange(field: "seconds", limit: limit)) {
      try bench.apply(.addRemainingTime(limit - 0.000001, clamp: false))
    }

    #expect(bench.timer == before)
  }

  @Test(arguments: TimerBench.Past.active)
  func `stops at exactly zero when clamped`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)

    try bench.apply(.addRemainingTime(-1000, clamp: true))

    #expect(bench.time == .zero)
    #expect(bench.crossZero() == bench.now)
  }

  @Test func `adds what is within bounds when clamped`() throws {
    var bench = TimerBench.make()

    try bench.apply(.addRemainingTime(-20, clamp: true))

    #expect(bench.time == 270)
  }

  @Test func `is refused beyond the longest countdown, with the amount that would do`() {
    var bench = TimerBench.make()

    #expect(throws: TimerRefusal.outOfRange(field: "seconds", limit: 31_535_710)) {
      try bench.apply(.addRemainingTime(31_535_711, clamp: false))
    }
  }

  @Test func `stops at the longest countdown when clamped`() throws {
    var bench = TimerBench.make()

    try bench.apply(.addRemainingTime(31_536_000, clamp: true))

    #expect(bench.time == 31_536_000)
  }

  @Test(arguments: [TimerBench.Past.running, .paused])
  func `is refused for a stopwatch`(_ past: TimerBench.Past) {
    var bench = TimerBench.stopwatch(past)

    #expect(throws: TimerRefusal.invalidTimerType) {
      try bench.apply(.addRemainingTime(5, clamp: false))
    }
  }
}

@Suite struct `Adding elapsed time` {
  @Test func `counts on from the new value`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.addElapsedTime(60.5, clamp: false))
    bench.advance(1)

    #expect(bench.time == 71.5)
    #expect(bench.status == .running)
  }

  @Test func `sets a stopwatch back`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.addElapsedTime(-4, clamp: false))

    #expect(bench.time == 6)
  }

  @Test func `works on a paused stopwatch`() throws {
    var bench = TimerBench.stopwatch(.paused)
    bench.advance(100)

    try bench.apply(.addElapsedTime(5, clamp: false))
    bench.advance(100)

    #expect(bench.time == 15)
    #expect(bench.status == .paused)
  }

  @Test func `stays exact after pauses`() throws {
    var bench = TimerBench.stopwatch(.paused)
    bench.advance(33.333333)
    try bench.apply(.resume)

    try bench.apply(.addElapsedTime(0.000001, clamp: false))
    bench.advance(1)

    #expect(bench.time == 11.000001)
  }

  @Test func `is refused below zero, with the amount that would do`() {
    var bench = TimerBench.stopwatch()

    #expect(throws: TimerRefusal.outOfRange(field: "seconds", limit: -10)) {
      try bench.apply(.addElapsedTime(-10.000001, clamp: false))
    }
  }

  @Test func `goes to exactly zero and counts on when clamped`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.addElapsedTime(-1000, clamp: true))
    let clamped = bench.time
    bench.advance(2)

    #expect(clamped == .zero)
    #expect(bench.time == 2)
  }

  @Test(arguments: TimerBench.Past.active)
  func `is refused for a countdown`(_ past: TimerBench.Past) {
    var bench = TimerBench.make(past)

    #expect(throws: TimerRefusal.invalidTimerType) {
      try bench.apply(.addElapsedTime(5, clamp: false))
    }
  }
}
