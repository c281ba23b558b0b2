import Foundation
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

@Suite struct `A clock reading with its wall clock` {
  private func reading(
    server: Instant, wall: WallTime?, boot: Seconds = 5_000, bootID: String = "first"
  ) -> ClockReading {
    ClockReading(server: server, boot: boot, bootID: bootID, wall: wall)
  }

  private func now(_ wall: WallTime) -> ClockReading {
    reading(server: wall.instant(offset: 0), wall: wall, boot: 20, bootID: "second")
  }

  @Test(arguments: [32_400, -32_400, 0.05] as [Seconds])
  func `counts what has passed since a clock was set that was wrong at the start`(_ step: Seconds) {
    let written = reading(
      server: 1_764_480_000, wall: WallTime(at: 1_764_480_000, offset: step))

    let shift = written.shift(to: now(WallTime(at: 1_764_480_600, offset: step)))

    #expect(shift == step)
  }

  @Test func `has nothing passed when the wall clock went back over a new start`() {
    let written = reading(server: 1_764_480_000, wall: 1_764_512_400)

    #expect(written.shift(to: now(1_764_512_300)) == 32_300)
  }

  @Test func `goes on by boot time in the same start, whatever the wall clock says`() {
    let written = reading(server: 1_764_480_000, wall: 1_764_512_400)
    let now = reading(server: 1_764_480_500, wall: 1_764_480_500, boot: 5_600)

    #expect(written.shift(to: now) == -100)
  }

  @Test(arguments: [32_400, -32_400] as [Seconds])
  func `learns from a later one that the clock was set after it`(_ step: Seconds) {
    let written = reading(server: 1_764_480_000, wall: 1_764_480_000)
    let later = reading(
      server: 1_764_480_060, wall: WallTime(at: 1_764_480_060, offset: step), boot: 5_060)
    let now = now(WallTime(at: 1_764_480_600, offset: step))

    #expect(written.shift(to: now, by: [later]) == step)
    #expect(now.server - ((1_764_480_000 as Instant) + step) == 600)
  }

  @Test func `learns nothing from one before it, or of another start`() {
    let written = reading(server: 1_764_480_000, wall: 1_764_480_000)
    let earlier = reading(server: 1_764_479_000, wall: 1_764_400_000, boot: 4_000)
    let other = reading(
      server: 1_764_480_900, wall: 1_764_400_000, boot: 5_900, bootID: "another")

    #expect(written.shift(to: now(1_764_480_600), by: [earlier, other]) == 0)
  }

  @Test func `learns nothing from one that doesn't tell the wall clock`() {
    let written = reading(server: 1_764_480_000, wall: nil)
    let later = reading(server: 1_764_400_060, wall: nil, boot: 5_060)

    #expect(written.shift(to: now(1_764_480_600), by: [later]) == 0)
  }

  @Test func `is read from a file that has none`() throws {
    let file = Data(#"{"serverTime":1764480000.25,"bootTime":5000,"bootID":"b"}"#.utf8)

    let reading = try JSONDecoder().decode(ClockReading.self, from: file)

    #expect(reading.wall == nil)
    #expect(reading.wallTime == 1_764_480_000.25)
    #expect(reading.wallOffset == 0)
  }

  @Test func `returns by how much the clock was set since, in the same start only`() {
    let written = reading(server: 1_764_480_000, wall: 1_764_480_000)
    let later = reading(server: 1_764_500_000, wall: 1_764_512_460, boot: 5_060)

    #expect(written.wallStep(to: later) == 32_400)
    #expect(written.wallStep(to: now(1_764_480_600)) == nil)
  }
}

@Suite struct `A timer restored after a restart` {
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

  @Test func `moves as a whole when it is finished`() throws {
    let run = try #require(TimerBench.make(.finished).timer?.run)

    let moved = try #require(TimerBench.make(.finished).timer?.shifted(by: 3600).run)

    let stop = try #require(run.stopDate)
    #expect(moved.startDate == run.startDate.addingTimeInterval(3600))
    #expect(moved.stopDate == stop.addingTimeInterval(3600))
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
