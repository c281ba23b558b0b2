/// Somebody who is sent bytes, and may not take them.
protocol BacklogReader: AnyObject {
  /// Bytes that wait for it in this process.
  var waitingByteCount: Int { get }
  /// How many bytes it has taken, by a count of its own; only its growth says anything.
  var readProgress: Int64 { get }
  var backlogEntry: BacklogEntry { get set }
}

/// What a backlog knows of one reader.
struct BacklogEntry {
  /// What it was counted with last; 0 when it is not in the backlog.
  fileprivate(set) var byteCount = 0
  /// Whether it is being closed.
  fileprivate(set) var isClosing = false
  /// How much it had taken when it was looked at last; nil before the first look.
  fileprivate var readProgress: Int64?
  /// When it was seen to take something, or began to have something waiting.
  fileprivate var progressedAt: UInt64 = 0
}

/// What waits in one loop for those who have not read it.
///
/// Only who has something waiting is in here, so that it costs those nothing who read. The loop's thread.
final class Backlog {
  private var members: [ObjectIdentifier: any BacklogReader] = [:]
  /// Bytes that wait for those who stay.
  private(set) var byteCount = 0
  /// Bytes that wait for those who are being closed.
  private(set) var closingByteCount = 0

  var isEmpty: Bool { members.isEmpty }

  /// Those with the most first.
  var readers: [any BacklogReader] {
    members.values.sorted { $0.backlogEntry.byteCount > $1.backlogEntry.byteCount }
  }

  /// Counts what waits for a reader now.
  func update(_ reader: any BacklogReader, atMilliseconds now: UInt64) {
    let (before, after) = (reader.backlogEntry.byteCount, reader.waitingByteCount)
    guard after != before else { return }
    reader.backlogEntry.byteCount = after
    add(after - before, isClosing: reader.backlogEntry.isClosing)
    if before == 0 {
      (reader.backlogEntry.progressedAt, reader.backlogEntry.readProgress) = (now, nil)
      members[ObjectIdentifier(reader)] = reader
    } else if after == 0 {
      members[ObjectIdentifier(reader)] = nil
    }
  }

  /// From now on what waits for it is counted with those who are being closed.
  func beginClosing(_ reader: any BacklogReader) {
    guard !reader.backlogEntry.isClosing else { return }
    reader.backlogEntry.isClosing = true
    add(-reader.backlogEntry.byteCount, isClosing: false)
    add(reader.backlogEntry.byteCount, isClosing: true)
  }

  private func add(_ count: Int, isClosing: Bool) {
    if isClosing { closingByteCount += count } else { byteCount += count }
  }

  /// How long a reader has taken nothing of what waits for it. To be asked now and then: what it took since
  /// the look before counts as taken now.
  func idleMilliseconds(of reader: any BacklogReader, at now: UInt64) -> UInt64 {
    let progress = reader.readProgress
    if let before = reader.backlogEntry.readProgress, progress > before {
      reader.backlogEntry.progressedAt = now
    }
    reader.backlogEntry.readProgress = progress
    return now - min(now, reader.backlogEntry.progressedAt)
  }
}
