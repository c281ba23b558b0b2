import TimerCore

/// The clocks' readings on the disk.
extension Hub {
  /// Stores the clocks' readings if the disk has another offset. After a restart of the machine they tell how much time
  /// has passed since changes made before the clock was set.
  mutating func storeClockIfDue(_ turn: inout Turn) {
    guard timerTable.isClockDue else { return }
    turn.actions.changes.append(timerTable.makeClockWrite(at: turn.now))
  }

  /// The disk refused a write, which may have been that one. The next change takes the clocks along; where none
  /// comes they are written by themselves a little later.
  mutating func retryClockRecord(at now: Instant) {
    guard timerTable.isClockDue else { return }
    deadlines.set(.clockRecord, now + Self.clockRecordRetry)
  }

  private static let clockRecordRetry: Seconds = 10
}
