import Foundation

/// The contents of a log: every whole entry of its newest generation. Entries behind a damaged one count: each was answered.
struct LogContents {
  var found = ChangeLog.Found()
  /// Up to the end of the last whole entry.
  private(set) var length: UInt64 = 0
  private(set) var generation: UInt64 = 0
  /// The number of entries, including those that are missing between others.
  private(set) var count = 0
  /// True if bytes that are no whole entry lie before a whole one.
  private(set) var hasGap = false

  init(of bytes: Data) {
    let all = LogEntry.all(in: bytes)
    found.newerVersion = LogEntry.newerVersion(of: bytes)
    generation = all.map(\.generation).max() ?? 0
    let entries = all.filter { $0.generation == generation }
    found.steps = entries.map(\.step)
    for file in entries.flatMap(\.files) {
      found.former[FileName(file.name), default: FormerContents(isKnown: file.was != nil)]
        .hashes.formUnion(file.was ?? [])
    }
    count = (entries.last?.entry).map { $0 + 1 } ?? entries.count
    var end = bytes.startIndex
    var previous: LogEntry?
    var isDamaged = false
    for entry in entries {
      if entry.range.lowerBound != end {
        hasGap = true
        isDamaged = isDamaged || !isTorn(between: previous, entry, of: entries, bytes)
      }
      end = entry.range.upperBound
      previous = entry
    }
    length = UInt64(end - bytes.startIndex)
    if entries.isEmpty { isDamaged = !Self.isTornBeginning(bytes) }
    if isDamaged { found.damaged = bytes }
  }

  /// Returns whether a crash may have left this of the first entry: nothing, its first bytes, or a whole block that
  /// was never written.
  private static func isTornBeginning(_ bytes: Data) -> Bool {
    bytes.starts(with: LogEntry.mark) || LogEntry.mark.starts(with: bytes)
      || bytes.prefix(blockSize).allSatisfy { $0 == 0 }
  }

  /// The smallest unit that a disk writes.
  private static let blockSize = 512

  /// Returns whether a crash may have done what is between two entries: it tears nothing but what was written last,
  /// of which nothing was answered. Of a group it may leave any part.
  private func isTorn(
    between before: LogEntry?, _ after: LogEntry, of entries: [LogEntry], _ bytes: Data
  ) -> Bool {
    if before == nil, bytes.starts(with: LogEntry.beginning), after.entry != 0 {
      // The log was about to restart: all of these are in their files.
      return true
    }
    guard let first = entries.last?.first, after.first == first else { return false }
    guard let before else { return first == 0 }
    return before.entry.map { $0 + 1 >= first } ?? false
  }
}
