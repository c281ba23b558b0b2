import TimerCore
import TimerProtocol

/// The wall clock, which people and services set. No timer depends on it, but tokens end by it, and clients and the
/// disk record its offset.
extension Hub {
  /// The longest time between two looks at the wall clock, also when nothing else happens.
  static let wallClockPause: Seconds = 1

  /// The wall clock minus the server clock.
  var wallOffset: Seconds { timerTable.clock.wallOffset }

  /// The wall clock was set, or has drifted.
  mutating func updateWallOffset(to offset: Seconds, _ turn: inout Turn) {
    guard offset != wallOffset else { return }
    let before = Self.words(wallOffset)
    timerTable.clock.wallOffset = offset
    counters.clockSteps += 1
    turn.actions.log(
      .warning,
      "the wall clock was \(before) the server clock, and is \(Self.words(offset)) it now; timers are not affected"
    )
    enforceTokens(&turn)
    storeClockIfDue(&turn)
  }

  /// Rounded to milliseconds: two clocks that are read one after the other have no more precision.
  private static func words(_ offset: Seconds) -> String {
    let milliseconds = (max(offset, -offset).microseconds + 500) / 1_000
    guard milliseconds > 0 else { return "level with" }
    let length = Seconds(microseconds: milliseconds * 1_000).text
    return "\(length) s \(offset > .zero ? "ahead of" : "behind")"
  }
}
