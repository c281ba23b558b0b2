import TimerCore
import TimerProtocol

/// The wall clock, which people and services set. No timer depends on it, but tokens end by it, and clients and the
/// disk record its offset.
extension Hub {
  /// The server looks at the wall clock so often, also when nothing else happens.
  static let wallClockPause: Seconds = 1
  private static let clockRecordRetry: Seconds = 10

  /// The wall clock minus the server clock.
  var wallOffset: Seconds { timerTable.clock.wallOffset }

  func wallTime(at now: Instant) -> WallTime { timerTable.clock.wallTime(at: now) }

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

  // MARK: On the disk

  /// Stores the clocks' readings if the disk has another offset. After a restart of the machine they tell how much time
  /// has passed since changes made before the clock was set.
  mutating func storeClockIfDue(_ turn: inout Turn) {
    guard timerTable.isClockDue else { return }
    turn.actions.writes.append(timerTable.makeClockWrite(at: turn.now))
  }

  /// The disk refused a write, which may have been that one. The next change takes the clocks along; where none
  /// comes they are written by themselves a little later.
  mutating func retryClockRecord(at now: Instant) {
    guard timerTable.isClockDue else { return }
    deadlines.set(.clockRecord, now + Self.clockRecordRetry)
  }
}
