import Foundation
import TimerCore

/// The one place that asks what time it is.
///
/// The wall clock is read once, when the server starts; from then on the boot-time clock counts, which
/// goes on while the machine sleeps and which nobody steps.
struct ServerClock {
  let anchor: ClockAnchor
  private let boot: () -> Seconds

  /// The clocks are passed in, so that a test can be any machine at any time.
  ///
  /// What lies between the two readings moves every timer over a restart, and a busy machine may do
  /// something else there: so the wall clock is read between two readings of the boot time, and again while
  /// these are apart.
  init(wall: () -> Instant, boot: @escaping () -> Seconds, bootID: String) {
    self.boot = boot
    var closest: (wall: Instant, boot: Seconds, gap: Seconds)?
    for _ in 0..<Self.readingsMax {
      let before = boot()
      let instant = wall()
      let gap = boot() - before
      if gap < closest?.gap ?? .init(microseconds: .max) { closest = (instant, before, gap) }
      if gap <= Self.gapMax { break }
    }
    guard let closest else { preconditionFailure("the clocks are read at least once") }
    anchor = ClockAnchor(
      start: ClockReading(server: closest.wall, boot: closest.boot, bootID: bootID))
  }

  private static let readingsMax = 20
  private static let gapMax: Seconds = 0.0001

  /// This machine's clocks.
  static func system() -> ServerClock {
    let clock = ContinuousClock()
    let epoch = clock.systemEpoch
    return ServerClock(
      wall: { Instant(Date()) },
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

/// Where the server clock was when the server started; each later reading follows from the boot time.
struct ClockAnchor: Equatable {
  let start: ClockReading

  func instant(atBoot boot: Seconds) -> Instant {
    start.server + (boot - start.boot)
  }

  /// What the clocks said at an instant of the server clock.
  func reading(at now: Instant) -> ClockReading {
    ClockReading(
      server: now, boot: start.boot + (now - start.server), bootID: start.bootID)
  }
}

extension Duration {
  /// Cut to whole microseconds.
  fileprivate var wholeMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
