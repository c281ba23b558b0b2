import Testing
import TimerCore

@testable import TimerServer

/// A machine whose clocks the test moves.
private final class Machine {
  var boot: Seconds = 5_000
  var wall: WallTime = 1_764_480_000
  /// The time that the machine takes for other work before it reads the boot time again.
  var hold: Seconds = 0

  func wait(_ length: Seconds) {
    boot = boot + length
    wall = WallTime(wall.sinceEpoch + length)
  }

  func step(_ length: Seconds) {
    wall = WallTime(wall.sinceEpoch + length)
  }

  func clock() -> ServerClock {
    ServerClock(
      wall: {
        defer { self.wait(self.hold) }
        return self.wall
      }, boot: { self.boot }, bootID: "boot-1")
  }
}

@Suite struct `The server's clock` {
  @Test func `begins at the wall clock's time`() {
    let machine = Machine()

    #expect(machine.clock().now() == 1_764_480_000)
  }

  /// A machine that is busy for these lengths between the readings of its clocks, which both go on.
  private func clock(readingsTake delays: [Seconds]) -> ServerClock {
    let machine = Machine()
    var delays = delays[...]
    return ServerClock(
      wall: {
        let read = machine.wall
        let delay = delays.popFirst() ?? .zero
        machine.wait(delay)
        return read
      }, boot: { machine.boot }, bootID: "boot-1")
  }

  @Test(arguments: [[0.3], [0.3, 2, 0.001], Array(repeating: 0.3, count: 19)] as [[Seconds]])
  func `is read again when the machine was held up between its clocks`(_ delays: [Seconds]) {
    let start = clock(readingsTake: delays).anchor.start

    #expect(start.server - start.boot == (1_764_480_000 as Instant) - 5_000)
  }

  @Test func `is read as well as can be when the machine is always held up`() {
    let start = clock(readingsTake: [0.3, 0.002] + Array(repeating: 0.3, count: 30)).anchor.start

    #expect(start.server == 1_764_480_000.3)
  }

  @Test(arguments: [3600, -3600] as [Seconds])
  func `doesn't care for steps of the wall clock`(_ step: Seconds) {
    let machine = Machine()
    let clock = machine.clock()

    machine.wait(10.000001)
    machine.step(step)

    #expect(clock.now() == Instant(microseconds: 1_764_480_010_000_001))
  }

  @Test func `counts the machine's sleep`() {
    let machine = Machine()
    let clock = machine.clock()

    machine.boot = machine.boot + 7_200

    #expect(clock.now() == 1_764_487_200)
  }

  @Test func `gives a reading for the disk`() {
    var anchor = Machine().clock().anchor
    anchor.wallOffset = 3_600

    let reading = anchor.reading(at: 1_764_480_003.5)

    #expect(
      reading
        == ClockReading(
          server: 1_764_480_003.5, boot: 5_003.5, bootID: "boot-1", wall: 1_764_483_603.5))
  }

  @Test func `of this machine goes forward`() {
    let clock = ServerClock.system()

    let first = clock.now()
    let second = clock.now()

    #expect(second >= first)
    #expect(!clock.anchor.start.bootID.isEmpty)
  }
}

@Suite struct `The check of the wall clock` {
  private func change(
    _ monitor: inout WallClockMonitor, _ clock: ServerClock, from offset: Seconds = 0
  ) -> Seconds? {
    monitor.change(from: offset, at: clock.now())
  }

  @Test(arguments: [3_600, -3_600, 0.05, -0.05] as [Seconds])
  func `detects a step`(_ step: Seconds) {
    let machine = Machine()
    let clock = machine.clock()
    var monitor = WallClockMonitor(clock)

    machine.wait(1)
    machine.step(step)

    #expect(change(&monitor, clock) == step)
    machine.wait(1)
    #expect(change(&monitor, clock, from: step) == nil)
  }

  @Test func `finds nothing where nothing was set`() {
    let machine = Machine()
    let clock = machine.clock()
    var monitor = WallClockMonitor(clock)

    machine.wait(7_200)

    #expect(change(&monitor, clock) == nil)
  }

  @Test(arguments: [0.049999, -0.049999] as [Seconds])
  func `passes over what is but noise`(_ step: Seconds) {
    let machine = Machine()
    let clock = machine.clock()
    var monitor = WallClockMonitor(clock)

    machine.wait(1)
    machine.step(step)

    #expect(change(&monitor, clock) == nil)
  }

  @Test func `follows a slow drift once it has added up`() {
    let machine = Machine()
    let clock = machine.clock()
    var monitor = WallClockMonitor(clock)
    var offset: Seconds = 0
    var told: [Seconds] = []

    for _ in 0..<120 {
      machine.wait(1)
      machine.step(0.001)
      guard let change = change(&monitor, clock, from: offset) else { continue }
      offset = change
      told.append(change)
    }

    #expect(told == [0.05, 0.1])
  }

  @Test func `reports no step for a gap of a busy machine`() {
    let machine = Machine()
    let clock = machine.clock()
    var monitor = WallClockMonitor(clock)

    machine.wait(1)
    machine.hold = 0.3

    #expect(change(&monitor, clock) == nil)
  }

  @Test func `sees a step though the machine is busy, and gets it right when it is not`() throws {
    let machine = Machine()
    let clock = machine.clock()
    var monitor = WallClockMonitor(clock)

    machine.wait(1)
    machine.step(-3_600)
    machine.hold = 0.3
    let first = change(&monitor, clock)
    let rough = try #require(first)
    machine.hold = 0
    machine.wait(1)

    #expect((-3_600.3 as Seconds)...(-3_600) ~= rough)
    let second = change(&monitor, clock, from: rough - 0.3)
    #expect(second == -3_600)
  }

  @Test func `runs twice a second at the most, however much happens`() {
    let machine = Machine()
    var looks = 0
    let clock = ServerClock(
      wall: {
        looks += 1
        return machine.wall
      }, boot: { machine.boot }, bootID: "boot-1")
    var monitor = WallClockMonitor(clock)
    looks = 0

    for _ in 0..<10_000 {
      machine.wait(0.001)
      _ = change(&monitor, clock)
    }

    #expect(looks == 20)
  }
}
