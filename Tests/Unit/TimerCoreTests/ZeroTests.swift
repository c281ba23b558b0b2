import Testing
import TimerCore

@Suite struct `A countdown at zero` {
  @Test func `crosses it at the instant it was due, however late it is asked`() {
    var bench = TimerBench.make()
    let due = bench.now + 290
    bench.advance(1000)

    #expect(bench.crossZero() == due)
    #expect(bench.timer?.changedAt == due)
    #expect(bench.timer?.endedAt == due)
  }

  @Test func `crosses it once`() {
    var bench = TimerBench.make()
    bench.advance(290)
    bench.crossZero()

    bench.advance(100)

    #expect(bench.crossZero() == nil)
  }

  @Test func `has not crossed it a microsecond before`() {
    var bench = TimerBench.make()

    bench.advance(289.999999)

    #expect(bench.crossZero() == nil)
    #expect(bench.time == 0.000001)
  }

  @Test func `crosses it later by the length of a pause`() throws {
    var bench = TimerBench.make(.paused)
    bench.advance(33.333333)
    try bench.apply(.resume)
    let due = bench.now + 290

    bench.advance(290)

    #expect(bench.crossZero() == due)
  }

  @Test func `goes on below zero in overtime`() {
    var bench = TimerBench.make()
    bench.advance(290)

    bench.crossZero()
    bench.advance(2.5)

    #expect(bench.status == .running)
    #expect(bench.time == -2.5)
    #expect(bench.elapsed == 302.5)
  }

  @Test func `ends its run exactly there when it is to finish`() {
    var bench = TimerBench.make(atZero: .finish)
    bench.advance(295)

    let zero = bench.crossZero()

    #expect(bench.status == .finished)
    #expect(bench.time == .zero)
    #expect(bench.elapsed == 300)
    #expect(bench.timer?.run?.stopDate == zero?.date)
  }

  @Test func `goes back to its starting duration when it is to reset`() throws {
    var bench = TimerBench.make(atZero: .reset)
    try bench.apply(.addRemainingTime(60, clamp: false))
    bench.advance(400)

    bench.crossZero()

    #expect(bench.status == nil)
    #expect(bench.time == 300)
  }

  @Test func `begins its next run exactly there when it repeats`() {
    var bench = TimerBench.make(atZero: .repeat)
    bench.advance(295)

    let zero = bench.crossZero()

    #expect(bench.timer?.run?.startDate == zero?.date)
    #expect(bench.time == 295)
    #expect(bench.timer?.zeroInstant == TimerBench.start + 600)
  }

  @Test func `repeats without what was added`() throws {
    var bench = TimerBench.make(atZero: .repeat)
    try bench.apply(.addRemainingTime(60, clamp: false))
    bench.advance(350)

    bench.crossZero()

    #expect(bench.time == 300)
    #expect(bench.timer?.addedTime == .zero)
  }

  @Test(arguments: [AtZero.finish, .reset, .repeat])
  func `shows zero, not less, until the crossing is recorded`(_ atZero: AtZero) {
    var bench = TimerBench.make(atZero: atZero)

    bench.advance(290.01)

    #expect(bench.time == .zero)
    #expect(bench.elapsed == 300)
  }

  @Test func `has no effect on a stopwatch`() {
    var bench = TimerBench.stopwatch()

    bench.advance(1_000_000)

    #expect(bench.timer?.zeroInstant == nil)
    #expect(bench.crossZero() == nil)
  }
}

@Suite struct `A countdown that was set to zero while paused` {
  private func made(_ atZero: AtZero) throws -> TimerBench {
    var bench = TimerBench.make(.paused, atZero: atZero)
    bench.advance(50)
    try bench.apply(.addRemainingTime(-290, clamp: false))
    return bench
  }

  @Test(arguments: AtZero.allCases)
  func `ends at that change`(_ atZero: AtZero) throws {
    var bench = try made(atZero)

    #expect(bench.crossZero() == bench.now)
  }

  @Test func `stays paused in overtime and ends no second time`() throws {
    var bench = try made(.overtime)
    bench.crossZero()

    try bench.apply(.resume)
    bench.advance(1)

    #expect(bench.crossZero() == nil)
    #expect(bench.time == -1)
  }

  @Test func `is finished when it is to finish`() throws {
    var bench = try made(.finish)

    bench.crossZero()

    #expect(bench.status == .finished)
    #expect(bench.time == .zero)
  }

  @Test func `is idle when it is to reset`() throws {
    var bench = try made(.reset)

    bench.crossZero()

    #expect(bench.status == nil)
    #expect(bench.time == 300)
  }

  @Test func `is paused at its starting duration when it repeats`() throws {
    var bench = try made(.repeat)

    bench.crossZero()
    bench.advance(100)

    #expect(bench.status == .paused)
    #expect(bench.time == 300)
  }
}

@Suite struct `A countdown that repeats` {
  @Test func `begins run n at exactly n times its length`() {
    var bench = TimerBench.make(seconds: 0.5, atZero: .repeat)
    bench.now = TimerBench.start

    for run in 1...1_000 {
      bench.advance(0.5)
      let zero = bench.crossZero()

      #expect(zero == TimerBench.start + Seconds(microseconds: 500_000) * Int64(run))
    }

    #expect(bench.time == 0.5)
  }

  @Test func `doesn't drift however late each crossing is seen`() {
    var bench = TimerBench.make(seconds: 0.1, atZero: .repeat)
    bench.now = TimerBench.start

    for run in 1...1_000 {
      bench.now = TimerBench.start + Seconds(microseconds: 100_000) * Int64(run) + 0.037
      bench.crossZero()
    }

    #expect(bench.timer?.run?.startDate == (TimerBench.start + 100).date)
  }

  @Test func `reports each of a few crossings that were missed`() {
    var bench = TimerBench.make(seconds: 0.5, atZero: .repeat)
    bench.now = TimerBench.start + 5.2

    var zeros: [Instant] = []
    while let zero = bench.crossZero() { zeros.append(zero) }

    #expect(zeros == (1...10).map { TimerBench.start + Seconds(microseconds: 500_000 * $0) })
  }

  @Test func `lets the last of very many missed crossings stand for all`() {
    var bench = TimerBench.make(seconds: 0.5, atZero: .repeat)
    bench.now = TimerBench.start + 100_000.3

    var zeros: [Instant] = []
    while let zero = bench.crossZero() { zeros.append(zero) }

    #expect(zeros.last == TimerBench.start + 100_000)
    #expect(zeros.count == 1)
    #expect(bench.time == 0.2)
  }
}
