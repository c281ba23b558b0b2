import TimerCore
import TimerStorage

/// The one count of revisions, which never goes back: not over restarts, not over removals.
///
/// The disk holds a ceiling above all that was given; it is raised in steps, so that it is written seldom.
struct RevisionCounter {
  /// The last one that was given, or the highest that may have been given by a server before.
  private(set) var last: Int
  private var ceiling: Int
  /// The ceiling that is known to be on the disk. A write may fail while later ones succeed, so each one carries the
  /// record until one of them is durable.
  private var storedCeiling: Int

  private static let step = 100

  init(_ record: ServerRecord) {
    last = record.revisionCeiling
    ceiling = record.revisionCeiling
    storedCeiling = record.revisionCeiling
  }

  /// Continues on another folder with this record; later revisions are above all that either has issued.
  mutating func reset(to record: ServerRecord) {
    last = max(last, record.revisionCeiling)
    storedCeiling = record.revisionCeiling
    ceiling = last > record.revisionCeiling ? last + Self.step : record.revisionCeiling
  }

  /// A revision that was found on the disk.
  mutating func raise(to revision: Int) {
    last = max(last, revision)
  }

  mutating func next() -> Int {
    last += 1
    if last > ceiling { ceiling = last + Self.step }
    return last
  }

  /// The record to write with the next change; nil while the one on the disk is enough.
  ///
  /// A removal with an idempotency key, and such a change of no timer, always come with a record: no timer's file could
  /// hold the key.
  func recordIfDue(
    _ clock: ClockReading, removals: [ServerRecord.Removal] = [],
    unchanged: IdempotencyRecord? = nil
  ) -> ServerRecord? {
    guard !removals.isEmpty || unchanged != nil || ceiling != storedCeiling else { return nil }
    return record(clock, removals: removals, unchanged: unchanged)
  }

  /// The record to write, due or not.
  func record(
    _ clock: ClockReading, removals: [ServerRecord.Removal] = [],
    unchanged: IdempotencyRecord? = nil
  ) -> ServerRecord {
    ServerRecord(
      revisionCeiling: ceiling, removals: removals, unchanged: [unchanged].compactMap(\.self),
      clock: clock)
  }

  mutating func recordWasStored(_ record: ServerRecord) {
    storedCeiling = max(storedCeiling, record.revisionCeiling)
  }

  /// The last record of a server that stops: the next one continues without a gap.
  mutating func shutdownRecord(_ clock: ClockReading) -> ServerRecord {
    ceiling = last
    return ServerRecord(revisionCeiling: last, clock: clock)
  }
}

extension IdempotencyRecord {
  /// The number of a timer's records that are kept in its file.
  private static let perTimerMax = 24

  /// The ones to keep in a timer's file, the newest included.
  static func keeping(
    _ older: [IdempotencyRecord], and newest: IdempotencyRecord, at now: Instant
  ) -> [IdempotencyRecord] {
    let oldest = (now - retention).sinceEpoch.inSeconds
    return (older.filter { $0.at >= oldest } + [newest]).suffix(perTimerMax)
  }
}
