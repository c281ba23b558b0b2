import Testing
import TimerCore

@testable import TimerServer

/// A machine whose clocks the test moves.
private final class Machine {
  var boot: Seconds = 5_000
  var wall: Instant = 1_764_480_000

  func clock() -> ServerClock {
    ServerClock(wall: { self.wall }, boot: { self.boot }, bootID: "boot-1")
  }
}

@Suite struct `The server's clock` {
  @Test func `begins at the wall clock's time`() {
    let machine = Machine()

    #expect(machine.clock().now() == 1_764_480_000)
  }

  /// A machine that does something else between the readings of its clocks, for as long as is told; both go on.
  private func clock(held delays: [Seconds]) -> ServerClock {
    let machine = Machine()
    var delays = delays[...]
    return ServerClock(
      wall: {
        let read = machine.wall
        let delay = delays.popFirst() ?? .zero
        machine.wall = machine.wall + delay
        machine.boot = machine.boot + delay
        return read
      }, boot: { machine.boot }, bootID: "boot-1")
  }

  @Test(arguments: [[0.3], [0.3, 2, 0.001], Array(repeating: 0.3, count: 19)] as [[Seconds]])
  func `is read again when the machine was held up between its clocks`(_ delays: [Seconds]) {
    let start = clock(held: delays).anchor.start

    #expect(start.server - start.boot == (1_764_480_000 as Instant) - 5_000)
  }

  @Test func `is read as well as can be when the machine is always held up`() {
    let start = clock(held: [0.3, 0.002] + Array(repeating: 0.3, count: 30)).anchor.start

    #expect(start.server == 1_764_480_000.3)
  }

  @Test(arguments: [3600, -3600] as [Seconds])
  func `doesn't care for steps of the wall clock`(_ step: Seconds) {
    let machine = Machine()
    let clock = machine.clock()

    machine.boot = machine.boot + 10.000001
    machine.wall = machine.wall + 10.000001 + step

    #expect(clock.now() == Instant(microseconds: 1_764_480_010_000_001))
  }

  @Test func `counts the machine's sleep`() {
    let machine = Machine()
    let clock = machine.clock()

    machine.boot = machine.boot + 7_200

    #expect(clock.now() == 1_764_487_200)
  }

  @Test func `tells a reading for the disk`() {
    let clock = Machine().clock()

    let reading = clock.anchor.reading(at: 1_764_480_003.5)

    #expect(reading == ClockReading(server: 1_764_480_003.5, boot: 5_003.5, bootID: "boot-1"))
  }

  @Test func `of this machine goes forward`() {
    let clock = ServerClock.system()

    let first = clock.now()
    let second = clock.now()

    #expect(second >= first)
    #expect(!clock.anchor.start.bootID.isEmpty)
  }
}
