import Testing
import TimerCore

@Suite struct `Reported cases` {
  private func started(_ seconds: Seconds) throws -> TimerBench {
    var bench = TimerBench()
    try bench.apply(.start(TimerStart(duration: seconds)))
    return bench
  }

  @Test func `20 s, paused at 5 for 5, has 15 left`() throws {
    var bench = try started(20)
    bench.advance(5)
    try bench.apply(.pause)
    bench.advance(5)

    try bench.apply(.resume)

    #expect(bench.time == 15)
  }

  @Test func `60 s and 60 more at 50 end once, at 120`() throws {
    var bench = try started(60)
    bench.advance(50)
    try bench.apply(.addRemainingTime(60, clamp: false))

    var zeros: [Instant] = []
    for _ in 0..<200 {
      bench.advance(1)
      if let zero = bench.crossZero() { zeros.append(zero) }
    }

    #expect(zeros == [TimerBench.start + 120])
  }

  @Test func `610 s less 600 end once, at the new zero`() throws {
    var bench = try started(610)
    bench.advance(4)
    try bench.apply(.addRemainingTime(-600, clamp: false))

    var zeros: [Instant] = []
    for _ in 0..<700 {
      bench.advance(1)
      if let zero = bench.crossZero() { zeros.append(zero) }
    }

    #expect(zeros == [TimerBench.start + 10])
  }

  @Test func `300 s and 10 more at 37,4 have 272,6 left`() throws {
    var bench = try started(300)
    bench.advance(37.4)

    try bench.apply(.addRemainingTime(10, clamp: false))

    #expect(bench.time == 272.6)
    #expect(bench.ticks(every: 1, for: 1) == [272])
  }

  @Test func `60 s, paused at 20, 30 more, have 70 left after 100 and end 70 later`() throws {
    var bench = try started(60)
    bench.advance(20)
    try bench.apply(.pause)
    try bench.apply(.addRemainingTime(30, clamp: false))
    bench.advance(100)

    try bench.apply(.resume)

    #expect(bench.time == 70)
    #expect(bench.timer?.zeroInstant == bench.now + 70)
  }

  @Test func `a start after the end counts the full duration`() throws {
    var bench = try started(5)
    bench.advance(9)
    bench.crossZero()
    try bench.apply(.finish(resetTime: false))
    bench.advance(3)

    try bench.apply(.start(TimerStart()))

    #expect(bench.time == 5)
    #expect(bench.timer?.zeroInstant == bench.now + 5)
  }

  @Test func `30 s are told as 29 down to 1, none missing, none twice`() throws {
    let bench = try started(30)

    #expect(
      bench.ticks(every: 1, for: 30)
        == (1...29).reversed().map { Seconds(microseconds: $0 * 1_000_000) })
  }

  @Test func `200 pauses and resumes within a second agree`() throws {
    var bench = try started(300)

    for _ in 0..<100 {
      bench.advance(0.005)
      try bench.apply(.pause)
      bench.advance(0.005)
      try bench.apply(.resume)
    }

    #expect(bench.elapsed == 0.5)
    #expect(bench.time == 299.5)
  }
}
