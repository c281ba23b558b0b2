import Testing
import TimerCore

@Suite struct `The ticks of a countdown` {
  @Test func `show 299, 298 and so on for one of 300 seconds`() {
    var bench = TimerBench.make(seconds: 300)
    bench.now = TimerBench.start

    #expect(
      bench.ticks(every: 1, for: 299.5)
        == (1...299).reversed().map { Seconds(microseconds: $0 * 1_000_000) })
  }

  @Test func `fall on its own whole seconds, not the clock's`() {
    var bench = TimerBench.make(seconds: 90.5)
    bench.now = TimerBench.start

    #expect(bench.timer?.nextTick(after: bench.now, every: 1) == TimerBench.start + 0.5)
    #expect(bench.ticks(every: 1, for: 3) == [90, 89, 88])
  }

  @Test(
    arguments: [
      (0.1, [0.3, 0.2, 0.1, -0.1, -0.2]), (0.25, [0.25, -0.25]), (3600, []),
    ] as [(Seconds, [Seconds])])
  func `are whole multiples of any interval`(_ interval: Seconds, _ shown: [Seconds]) {
    var bench = TimerBench.make(seconds: 0.35)
    bench.now = TimerBench.start

    #expect(bench.ticks(every: interval, for: 0.6) == shown)
  }

  @Test func `leave out zero itself`() {
    var bench = TimerBench.make(seconds: 3)
    bench.now = TimerBench.start

    #expect(bench.ticks(every: 1, for: 5) == [2, 1, -1, -2])
  }

  @Test func `come after an interval longer than itself below zero`() {
    var bench = TimerBench.make(seconds: 30)
    bench.now = TimerBench.start

    #expect(bench.timer?.nextTick(after: bench.now, every: 60) == TimerBench.start + 90)
  }

  @Test(arguments: [AtZero.finish, .reset, .repeat])
  func `stop before a zero that ends the run`(_ atZero: AtZero) {
    var bench = TimerBench.make(seconds: 3, atZero: atZero)
    bench.now = TimerBench.start

    #expect(bench.ticks(every: 1, for: 10) == [2, 1])
  }

  @Test func `go on below zero`() {
    let bench = TimerBench.make(.overtime)

    #expect(bench.ticks(every: 1, for: 3) == [-6, -7, -8])
  }

  @Test func `go on from where a pause left it`() throws {
    var bench = TimerBench.make(.paused)
    bench.advance(0.7)
    try bench.apply(.resume)

    #expect(bench.timer?.nextTick(after: bench.now, every: 1) == bench.now + 1)
  }

  @Test func `follow what was added`() throws {
    var bench = TimerBench.make()
    bench.advance(0.4)

    try bench.apply(.addRemainingTime(10, clamp: false))

    #expect(bench.ticks(every: 1, for: 1) == [299])
  }

  @Test func `come strictly after the instant that is asked about`() {
    let bench = TimerBench.make()

    #expect(bench.timer?.nextTick(after: bench.now, every: 1) == bench.now + 1)
  }

  @Test(arguments: [TimerBench.Past.idle, .paused, .finished])
  func `don't come while it does not run`(_ past: TimerBench.Past) {
    let bench = TimerBench.make(past)

    #expect(bench.timer?.nextTick(after: bench.now, every: 1) == nil)
  }

  @Test func `don't come for an interval of zero`() {
    let bench = TimerBench.make()

    #expect(bench.timer?.nextTick(after: bench.now, every: 0) == nil)
  }
}

@Suite struct `The ticks of a stopwatch` {
  @Test func `show whole seconds upward`() {
    var bench = TimerBench.stopwatch()
    bench.advance(0.25)

    #expect(bench.ticks(every: 1, for: 3) == [11, 12, 13])
  }

  @Test func `follow what was added`() throws {
    var bench = TimerBench.stopwatch()

    try bench.apply(.addElapsedTime(0.75, clamp: false))

    #expect(bench.timer?.nextTick(after: bench.now, every: 1) == bench.now + 0.25)
  }
}

@Suite struct `The distance to the next multiple` {
  @Test(
    arguments: [
      (0, 1), (0.3, 0.7), (1, 1), (1.999999, 0.000001), (-0.25, 0.25), (-1, 1), (-1.75, 0.75),
      (-0.000001, 0.000001), (1_000_000.5, 0.5),
    ] as [(Seconds, Seconds)])
  func `is never zero and never over one`(_ position: Seconds, _ way: Seconds) {
    #expect((1 as Seconds).untilMultiple(after: position) == way)
  }
}
