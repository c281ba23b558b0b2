import SharedAlgorithms
import TimerCore

/// The timers that crossed zero last, by the revisions of their crossings: a client that returns is sent what it missed
/// without a search through all timers.
struct RecentEnds {
  private var ends: [(revision: Int, id: TimerID)]
  /// All crossings above this revision are in the list.
  private var completeAbove = 0

  /// The list is cut to half of this when it grows longer.
  private static let endsMax = 8_192

  /// `ends` are all that are kept.
  init(_ ends: [(revision: Int, id: TimerID)]) {
    self.ends = ends.sorted { $0.revision < $1.revision }
    cut()
  }

  /// Adds a crossing; revisions come in their order.
  mutating func append(_ revision: Int, of id: TimerID) {
    ends.append((revision, id))
    cut()
  }

  private mutating func cut() {
    guard ends.count > Self.endsMax else { return }
    completeAbove = ends[ends.count - Self.endsMax / 2 - 1].revision
    ends.removeFirst(ends.count - Self.endsMax / 2)
  }

  /// The timers with a crossing above a revision; nil when the list does not reach back so far.
  func ids(after revision: Int) -> Set<TimerID>? {
    guard revision >= completeAbove else { return nil }
    let first = ends.partitioningIndex { $0.revision <= revision }
    return Set(ends[first...].map(\.id))
  }
}
