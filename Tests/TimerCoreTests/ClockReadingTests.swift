import Testing
import TimerCore

@Suite struct `A clock reading from before a restart` {
  private let written = ClockReading(server: 1_764_480_000, boot: 5_000, bootID: "first")

  @Test func `means the same on an undisturbed clock`() {
    let now = ClockReading(server: 1_764_480_003, boot: 5_003, bootID: "first")

    #expect(written.shift(to: now) == .zero)
  }

  @Test(arguments: [3600, -3600, 0.000001] as [Seconds])
  func `follows a wall clock that was stepped since`(_ step: Seconds) {
    let now = ClockReading(server: (1_764_480_003 as Instant) + step, boot: 5_003, bootID: "first")

    #expect(written.shift(to: now) == step)
  }

  @Test func `counts two hours of sleep`() {
    let now = ClockReading(server: 1_764_487_200, boot: 12_200, bootID: "first")

    #expect(written.shift(to: now) == .zero)
  }

  @Test func `goes by the wall clock after a new start of the machine`() {
    let now = ClockReading(server: 1_764_480_100, boot: 20, bootID: "second")

    #expect(written.shift(to: now) == .zero)
  }

  @Test func `has nothing passed when the wall clock went back over a new start`() {
    let now = ClockReading(server: 1_764_479_900, boot: 20, bootID: "second")

    #expect(written.shift(to: now) == -100)
  }
}

@Suite struct `A timer from before a restart` {
  private func elapsed(_ bench: TimerBench, shiftedBy shift: Seconds, after wait: Seconds)
    -> Seconds?
  {
    bench.timer.map { TimerReading($0.shifted(by: shift), at: bench.now + shift + wait).elapsed }
  }

  @Test func `has counted what passed while it runs`() {
    #expect(elapsed(.make(), shiftedBy: 3600, after: 3) == 13)
    #expect(elapsed(.make(), shiftedBy: -3600, after: 3) == 13)
  }

  @Test func `has stood still while it is paused`() {
    #expect(elapsed(.make(.paused), shiftedBy: -3600, after: 3) == 10)
  }

  @Test func `keeps its final state when it is finished`() {
    #expect(elapsed(.make(.finished), shiftedBy: -3600, after: 3) == 10)
  }

  @Test func `keeps pauses that are over`() throws {
    var bench = TimerBench.make(.paused)
    bench.advance(33)
    try bench.apply(.resume)

    #expect(elapsed(bench, shiftedBy: 3600, after: 1) == 11)
  }

  @Test func `has its zero at the same distance`() {
    let bench = TimerBench.make()

    #expect(bench.timer?.shifted(by: 3600).zeroInstant == bench.now + 3600 + 290)
  }

  @Test func `has not crossed zero again`() {
    let bench = TimerBench.make(.overtime)

    #expect(bench.timer?.shifted(by: 3600).zeroInstant == nil)
  }

  @Test func `is the same without a shift`() {
    let bench = TimerBench.make()

    #expect(bench.timer?.shifted(by: 0) == bench.timer)
  }
}
