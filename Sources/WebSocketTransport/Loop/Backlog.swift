/// A connection that bytes are sent to, and that may read them slowly.
protocol BacklogReader: AnyObject {
  /// Bytes that wait for it in this process.
  var waitingByteCount: Int { get }
  /// A count that grows whenever the peer reads something; its value has no other meaning.
  var readProgress: Int64 { get }
  var backlogEntry: BacklogEntry { get set }
}

/// The backlog's record of one reader.
struct BacklogEntry {
  /// The number of bytes when the reader was last updated; 0 when it is not in the backlog.
  fileprivate(set) var byteCount = 0
  /// True if the connection is being closed.
  fileprivate(set) var isClosing = false
  /// The reader's progress at the last check; nil before the first.
  fileprivate var readProgress: Int64?
  /// When it was seen to take something, or began to have something waiting.
  fileprivate var progressedAt: UInt64 = 0
}

/// The unread output of one loop.
///
/// It holds only readers that have bytes waiting, so that readers that keep up cost nothing. Belongs to the loop's
/// thread.
final class Backlog {
  private var members: [ObjectIdentifier: any BacklogReader] = [:]
  /// Bytes that wait for connections that stay open.
  private(set) var byteCount = 0
  /// Bytes that wait for connections that are being closed.
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

  /// Counts a reader's bytes as those of a closing connection from here on.
  func beginClosing(_ reader: any BacklogReader) {
    guard !reader.backlogEntry.isClosing else { return }
    reader.backlogEntry.isClosing = true
    add(-reader.backlogEntry.byteCount, isClosing: false)
    add(reader.backlogEntry.byteCount, isClosing: true)
  }

  private func add(_ count: Int, isClosing: Bool) {
    if isClosing { closingByteCount += count } else { byteCount += count }
  }

  /// How long a reader has read nothing of what waits for it. Progress since the previous call counts as progress now,
  /// so call this at regular intervals.
  func idleMilliseconds(of reader: any BacklogReader, at now: UInt64) -> UInt64 {
    let progress = reader.readProgress
    if let before = reader.backlogEntry.readProgress, progress > before {
      reader.backlogEntry.progressedAt = now
    }
    reader.backlogEntry.readProgress = progress
    return now - min(now, reader.backlogEntry.progressedAt)
  }
}
