import Foundation
import TimerCore

/// The only source of the current time.
///
/// The server clock starts at the wall clock's time. From then on it follows the boot-time clock, which keeps running
/// while the machine sleeps and is never stepped. The wall clock's offset from it is tracked separately.
struct ServerClock {
  let anchor: ClockAnchor
  private let wall: () -> WallTime
  private let boot: () -> Seconds

  /// The clocks are passed in, so that a test can be any machine at any time.
  init(wall: @escaping () -> WallTime, boot: @escaping () -> Seconds, bootID: String) {
    self.wall = wall
    self.boot = boot
    let first = ClockSample(wall: wall, boot: boot)
    anchor = ClockAnchor(
      start: ClockReading(
        server: first.wall.instant(offset: .zero), boot: first.boot, bootID: bootID,
        wall: first.wall))
  }

  /// The wall clock minus the server clock: the value nearest to `known` that the readings allow.
  func wallOffset(near known: Seconds) -> Seconds {
    let sample = ClockSample(wall: wall, boot: boot)
    let highest = sample.wall.sinceEpoch - anchor.instant(atBoot: sample.boot).sinceEpoch
    return min(max(known, highest - sample.gap), highest)
  }

  /// This machine's clocks.
  static func system() -> ServerClock {
    let clock = ContinuousClock()
    let epoch = clock.systemEpoch
    return ServerClock(
      wall: { WallTime(Date()) },
      boot: { Seconds(microseconds: epoch.duration(to: clock.now).wholeMicroseconds) },
      bootID: systemBootID())
  }

  func now() -> Instant {
    anchor.instant(atBoot: boot())
  }

  /// Linux names each start of the machine; without that name each process is its own.
  private static func systemBootID() -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    guard let contents = try? String(contentsOfFile: path, encoding: .utf8) else {
      return UUID().uuidString
    }
    return contents.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// The wall clock, and the boot time right before it.
///
/// A delay between the two readings would move every timer at a restart. So the wall clock is read between two readings
/// of the boot time, and again while those are too far apart.
private struct ClockSample {
  let wall: WallTime
  let boot: Seconds
  /// The longest time after `boot` at which the wall clock may have been read.
  let gap: Seconds

  private static let readingsMax = 20
  private static let gapMax: Seconds = 0.0001

  init(wall: () -> WallTime, boot: () -> Seconds) {
    var closest: (wall: WallTime, boot: Seconds, gap: Seconds)?
    for _ in 0..<Self.readingsMax {
      let before = boot()
      let time = wall()
      let gap = boot() - before
      if gap < closest?.gap ?? .init(microseconds: .max) { closest = (time, before, gap) }
      if gap <= Self.gapMax { break }
    }
    guard let closest else { preconditionFailure("the clocks are read at least once") }
    (self.wall, self.boot, gap) = closest
  }
}

/// Looks now and then how far the wall clock is from the server clock.
struct WallClockMonitor {
  private let clock: ServerClock
  private var sampledAt: Instant

  /// The shortest time between two samples.
  private static let pause: Seconds = 0.5
  /// Below this it is the noise of two clocks that are read one after the other. A slow drift adds up to it.
  static let changeMin: Seconds = 0.05

  init(_ clock: ServerClock) {
    self.clock = clock
    sampledAt = clock.anchor.start.server
  }

  /// The offset that takes the place of the one in force; nil while that one is right.
  mutating func change(from offset: Seconds, at now: Instant) -> Seconds? {
    guard now - sampledAt >= Self.pause else { return nil }
    sampledAt = now
    let present = clock.wallOffset(near: offset)
    let difference = present - offset
    return max(difference, -difference) >= Self.changeMin ? present : nil
  }
}

/// Where the server clock was when the server started, and how far the wall clock is from it; each later reading
/// follows from the boot time.
struct ClockAnchor: Equatable {
  let start: ClockReading
  /// The wall clock minus the server clock.
  var wallOffset = Seconds.zero

  init(start: ClockReading) {
    self.start = start
  }

  func instant(atBoot boot: Seconds) -> Instant {
    start.server + (boot - start.boot)
  }

  /// The clocks' readings at an instant of the server clock.
  func reading(at now: Instant) -> ClockReading {
    ClockReading(
      server: now, boot: start.boot + (now - start.server), bootID: start.bootID,
      wall: wallTime(at: now))
  }

  func wallTime(at now: Instant) -> WallTime {
    WallTime(at: now, offset: wallOffset)
  }
}

extension Duration {
  /// Cut to whole microseconds.
  fileprivate var wholeMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
