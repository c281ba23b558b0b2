/// Somebody who is sent bytes, and may not take them.
protocol BacklogReader: AnyObject {
  /// Bytes that wait for it in this process.
  var waitingByteCount: Int { get }
  /// How many bytes it has taken, by a count of its own; only its growth says anything.
  var takenByteCount: Int64 { get }
  var standing: BacklogStanding { get set }
}

/// What a backlog knows of one reader.
struct BacklogStanding {
  /// What it was counted with last; 0 when it is not in the backlog.
  fileprivate(set) var byteCount = 0
  /// Whether it is being closed.
  fileprivate(set) var isLeaving = false
  /// How much it had taken when it was looked at last; nil before the first look.
  fileprivate var takenByteCount: Int64?
  /// When it was seen to take something, or began to have something waiting.
  fileprivate var since: UInt64 = 0
}

/// What waits in one loop for those who have not read it.
///
/// Only who has something waiting is in here, so that it costs those nothing who read. The loop's thread.
final class Backlog {
  private var members: [ObjectIdentifier: any BacklogReader] = [:]
  /// Bytes that wait for those who stay.
  private(set) var byteCount = 0
  /// Bytes that wait for those who are being closed.
  private(set) var leavingByteCount = 0

  var isEmpty: Bool { members.isEmpty }

  /// Those with the most first.
  var readers: [any BacklogReader] {
    members.values.sorted { $0.standing.byteCount > $1.standing.byteCount }
  }

  /// Counts what waits for a reader now.
  func count(_ reader: any BacklogReader, atMilliseconds now: UInt64) {
    let (before, after) = (reader.standing.byteCount, reader.waitingByteCount)
    guard after != before else { return }
    reader.standing.byteCount = after
    add(after - before, isLeaving: reader.standing.isLeaving)
    if before == 0 {
      (reader.standing.since, reader.standing.takenByteCount) = (now, nil)
      members[ObjectIdentifier(reader)] = reader
    } else if after == 0 {
      members[ObjectIdentifier(reader)] = nil
    }
  }

  /// From now on what waits for it is counted with those who are being closed.
  func beginLeaving(_ reader: any BacklogReader) {
    guard !reader.standing.isLeaving else { return }
    reader.standing.isLeaving = true
    add(-reader.standing.byteCount, isLeaving: false)
    add(reader.standing.byteCount, isLeaving: true)
  }

  private func add(_ count: Int, isLeaving: Bool) {
    if isLeaving { leavingByteCount += count } else { byteCount += count }
  }

  /// How long a reader has taken nothing of what waits for it. To be asked now and then: what it took since
  /// the look before counts as taken now.
  func idleMilliseconds(of reader: any BacklogReader, at now: UInt64) -> UInt64 {
    let taken = reader.takenByteCount
    if let before = reader.standing.takenByteCount, taken > before { reader.standing.since = now }
    reader.standing.takenByteCount = taken
    return now - min(now, reader.standing.since)
  }
}
