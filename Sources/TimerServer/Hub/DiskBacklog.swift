import TimerStorage

/// What the disk has told and the hub has not heard yet, in its order and in pieces.
///
/// A disk that was busy reports thousands of changes at once, each of which is shown to everybody who looks
/// on: between two pieces the loop has its turn, so that no tick waits for all of them.
struct DiskBacklog {
  private var events = Queue<DiskEvent>()

  /// How many reports the hub hears at once.
  static let reportsMax = 8

  var isEmpty: Bool { events.isEmpty }

  mutating func append(_ more: [DiskEvent]) {
    for event in more {
      guard case .stored(let reports) = event else {
        events.append(event)
        continue
      }
      for start in stride(from: 0, to: reports.count, by: Self.reportsMax) {
        let end = min(start + Self.reportsMax, reports.count)
        events.append(.stored(Array(reports[start..<end])))
      }
    }
  }

  mutating func popFirst() -> DiskEvent? { events.popFirst() }
}
