import Testing
import TimerCore

@Suite struct `A run` {
  private func started(_ revision: Int = 5, _ command: TimerStart = TimerStart(duration: 60)) throws
    -> TimerBench
  {
    var bench = TimerBench()
    try bench.apply(.start(command))
    bench.timer = bench.timer?.numbered(revision)
    return bench
  }

  @Test func `is known by the revision that began it`() throws {
    #expect(try started().timer?.runRevision == 5)
  }

  @Test func `stays the same over pauses, added time, edits and its end`() throws {
    var bench = try started()
    let commands: [TimerCommand] = [
      .pause, .resume, .addRemainingTime(30, clamp: false), .update(TimerUpdate(title: "Tea")),
      .message(nil), .finish(resetTime: false),
    ]
    for (index, command) in commands.enumerated() {
      bench.advance(1)
      try bench.apply(command)
      bench.timer = bench.timer?.numbered(6 + index)
      #expect(bench.timer?.runRevision == 5)
    }
  }

  @Test func `is another one after a new start, and none after a reset`() throws {
    var bench = try started()
    try bench.apply(.start(TimerStart(force: true)))
    bench.timer = bench.timer?.numbered(6)
    #expect(bench.timer?.runRevision == 6)

    try bench.apply(.reset)
    #expect(bench.timer?.numbered(7).runRevision == nil)
  }

  @Test func `goes on with the same over a repeat, and ends with a reset at zero`() throws {
    for (atZero, run) in [(AtZero.repeat, 5), (.finish, 5), (.reset, nil)] as [(AtZero, Int?)] {
      var start = TimerStart(duration: 10)
      start.settings.atZero = atZero
      var bench = try started(5, start)
      bench.advance(10)
      bench.crossZero()
      #expect(bench.timer?.numbered(9).runRevision == run)
    }
  }

  @Test(arguments: [TimerCommand.pause, .finish(resetTime: false), .remove, .reset])
  func `is the only one that a change with its revision touches`(_ command: TimerCommand) throws {
    var bench = try started()
    let change = TimerChange(command, ifRun: 4)
    #expect(throws: TimerRefusal.runMismatch) {
      _ = try SharedTimer.applying(change, to: bench.timer, id: bench.id, now: bench.now)
    }
    bench.advance(1)
    let right = TimerChange(command, ifRun: 5)
    _ = try SharedTimer.applying(right, to: bench.timer, id: bench.id, now: bench.now)
  }

  @Test func `is none where no revision began it`() throws {
    let start = TimerChange(.start(TimerStart(duration: 5)), ifRun: 0)
    let bench = TimerBench()
    #expect(try SharedTimer.applying(start, to: nil, id: bench.id, now: bench.now) != nil)

    let running = try started()
    #expect(throws: TimerRefusal.runMismatch) {
      _ = try SharedTimer.applying(start, to: running.timer, id: running.id, now: running.now)
    }
  }
}

@Suite struct `A press that something else overtook` {
  private func running(_ seconds: Seconds = 10) throws -> TimerBench {
    var bench = TimerBench()
    try bench.apply(.start(TimerStart(duration: 60)))
    bench.advance(seconds)
    return bench
  }

  @Test(arguments: [
    TimerCommand.message(SpeakerText("Wrap up")), .update(TimerUpdate(title: "Tea")),
    .signal(.flash), .update(TimerUpdate(atZero: .finish)),
  ])
  func `counts from its own instant after a change that is not the run's`(
    _ other: TimerCommand
  ) throws {
    var bench = try running()
    let press = bench.now
    bench.advance(0.3)
    try bench.apply(other)
    let overtaken = bench.now
    bench.advance(0.6)

    try bench.apply(.pause, at: press)

    #expect(bench.elapsed == 10)
    #expect(bench.timer?.changedAt == overtaken)
  }

  @Test func `is refused after a change of the run`() throws {
    var bench = try running()
    let press = bench.now
    bench.advance(0.3)
    try bench.apply(.addRemainingTime(5, clamp: false))
    let change = bench.now
    bench.advance(0.3)

    #expect(throws: TimerRefusal.pressOutOfRange(earliest: change, latest: bench.now)) {
      try bench.apply(.pause, at: press)
    }
  }

  @Test func `is sorted in among laps`() throws {
    var bench = TimerBench()
    try bench.apply(.start(TimerStart(kind: .stopwatch)))
    bench.advance(10)
    let press = bench.now
    bench.advance(0.5)
    try bench.apply(.lap)
    bench.advance(0.5)

    try bench.apply(.lap, at: press)
    try bench.apply(.lap)

    #expect(bench.timer?.laps == [10, 10.5, 11])
  }

  @Test func `stays bounded by the run over laps and titles`() throws {
    var bench = try running()
    try bench.apply(.pause)
    let pause = bench.now
    bench.advance(0.5)
    try bench.apply(.update(TimerUpdate(title: "Tea")))
    bench.advance(0.5)

    #expect(throws: TimerRefusal.pressOutOfRange(earliest: pause, latest: bench.now)) {
      try bench.apply(.resume, at: pause - 0.1)
    }
    try bench.apply(.resume, at: pause + 0.2)
    #expect(bench.elapsed == 10.8)
  }

  @Test(arguments: [TimerCommand.pause, .finish(resetTime: false)])
  func `stops a stopwatch at a lap that overtook it, and not before`(
    _ command: TimerCommand
  ) throws {
    var bench = TimerBench()
    try bench.apply(.start(TimerStart(kind: .stopwatch)))
    bench.advance(10)
    let press = bench.now
    bench.advance(0.4)
    try bench.apply(.lap)
    bench.advance(0.4)

    try bench.apply(command, at: press)

    #expect(bench.elapsed == 10.4)
    #expect(bench.timer?.laps == [10.4])
    #expect(bench.timer?.runChangedAt == press + 0.4)
  }
}
