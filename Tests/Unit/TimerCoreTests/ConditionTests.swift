import Testing
import TimerCore

@Suite struct `A change on condition of a revision` {
  @Test func `is made when the timer is at it`() throws {
    var bench = TimerBench.make()

    try bench.apply(.pause, ifRevision: 7)

    #expect(bench.status == .paused)
  }

  @Test(arguments: [0, 6, 8])
  func `is refused at any other, telling the current one`(_ expected: Int) {
    var bench = TimerBench.make()
    let before = bench.timer

    #expect(throws: TimerRefusal.revisionMismatch(current: 7)) {
      try bench.apply(.pause, ifRevision: expected)
    }

    #expect(bench.timer == before)
  }

  @Test func `finds a timer that does not exist at zero`() throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart(duration: 5)), ifRevision: 0)

    #expect(bench.status == .running)
  }

  @Test func `finds no timer that does not exist at another one`() {
    var bench = TimerBench()

    #expect(throws: TimerRefusal.revisionMismatch(current: 0)) {
      try bench.apply(.start(TimerStart(duration: 5)), ifRevision: 7)
    }
  }

  @Test func `holds for a removal too`() {
    var bench = TimerBench.make()

    #expect(throws: TimerRefusal.revisionMismatch(current: 7)) {
      try bench.apply(.remove, ifRevision: 6)
    }
  }
}

@Suite struct `The instant of a press` {
  @Test(arguments: [0, 0.000001, 1, 2] as [Seconds])
  func `counts when it was up to two seconds ago`(_ ago: Seconds) throws {
    var bench = TimerBench.make()

    try bench.apply(.pause, at: bench.now - ago)

    #expect(bench.elapsed == 10 - ago)
    #expect(bench.timer?.changedAt == bench.now - ago)
  }

  @Test func `begins a run where the press was`() throws {
    var bench = TimerBench()

    try bench.apply(.start(TimerStart(duration: 60)), at: bench.now - 0.25)

    #expect(bench.time == 59.75)
  }

  @Test(arguments: [2.000001, 3600, -0.000001, -5] as [Seconds])
  func `is refused further back and in the future`(_ ago: Seconds) {
    var bench = TimerBench.make()
    let before = bench.timer

    #expect(
      throws: TimerRefusal.pressOutOfRange(earliest: bench.now - 2, latest: bench.now)
    ) {
      try bench.apply(.pause, at: bench.now - ago)
    }

    #expect(bench.timer == before)
  }

  @Test func `counts down to the last change itself`() throws {
    var bench = TimerBench.make(.paused)
    let pause = bench.now
    bench.advance(1)

    try bench.apply(.resume, at: pause)

    #expect(bench.elapsed == 11)
  }

  @Test func `is refused before the last change`() {
    var bench = TimerBench.make(.paused)
    let pause = bench.now
    bench.advance(1)

    #expect(throws: TimerRefusal.pressOutOfRange(earliest: pause, latest: bench.now)) {
      try bench.apply(.resume, at: pause - 0.000001)
    }
  }

  @Test func `is refused before a zero that was crossed`() throws {
    var bench = TimerBench.make(.running, seconds: 11)
    bench.advance(2)
    bench.crossZero()

    #expect(throws: TimerRefusal.pressOutOfRange(earliest: bench.now - 1, latest: bench.now)) {
      try bench.apply(.pause, at: bench.now - 1.5)
    }
  }
}
