import TimerCore
import TimerStorage

/// The clocks' readings that are stored beside the timers.
extension TimerTable {
  /// Restores the clocks' readings of the files; has to be called before any timer is restored.
  mutating func restoreClocks(_ contents: StoreContents, at now: Instant) {
    let present = clock.reading(at: now)
    let readings = contents.timers.map(\.clock)
    let boots = Set(readings.map(\.bootID))
    earlierClocks = contents.server.lastClocks.filter {
      $0.bootID != present.bootID && boots.contains($0.bootID)
    }.suffix(Self.earlierClocksMax)
    // A clock that was set while no server ran: nothing on the disk may know of it yet.
    let known = contents.server.clock.flatMap { $0.agrees(with: present) ? $0 : nil }
    let isBehind = readings.contains {
      $0.bootID == present.bootID && !$0.agrees(with: present)
        && $0.bootTime > known?.bootTime ?? -.infinity
    }
    storedWallOffset = isBehind ? nil : clock.wallOffset
  }

  private static let earlierClocksMax = 64

  /// A record from an edited file, on the clock of this process.
  func moved(_ record: TimerRecord, at now: Instant) -> TimerRecord {
    record.moved(to: clock.reading(at: now), by: earlierClocks)
  }

  /// How far instants of a record move when they are put on the clock of this process.
  func shift(of record: TimerRecord, at now: Instant) -> Seconds {
    record.clock.shift(to: clock.reading(at: now), by: earlierClocks)
  }

  /// True if the disk has another offset of the wall clock.
  var isClockDue: Bool { storedWallOffset != clock.wallOffset }

  /// The server's record, if it has to be written with the next change.
  func serverRecord(
    at now: Instant, removals: [ServerRecord.Removal] = [], unchanged: IdempotencyRecord? = nil
  ) -> ServerRecord? {
    let reading = clock.reading(at: now)
    var record = revisions.recordIfDue(reading, removals: removals, unchanged: unchanged)
    if record == nil, isClockDue { record = revisions.record(reading) }
    if !earlierClocks.isEmpty { record?.earlierClocks = earlierClocks }
    return record
  }

  /// Writes what the clocks say, and nothing else.
  mutating func makeClockWrite(at now: Instant) -> StoredChange {
    var change = PendingChange(ticket: pending.nextTicket())
    change.server = serverRecord(at: now)
    pending.submit(change)
    return StoredChange(
      stamp: stamp(change.ticket), timers: [:], server: change.server,
      reported: pending.lastReported, clock: change.server?.clock)
  }
}

extension ClockReading {
  /// Returns whether the wall clock was not set between two readings of one start of the machine.
  fileprivate func agrees(with other: ClockReading) -> Bool {
    guard let step = wallStep(to: other) else { return false }
    return max(step, -step) < WallClockMonitor.changeMin
  }
}
