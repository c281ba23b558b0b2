import TimerStorage

/// Events of the store that the hub has not handled yet, in order and in small pieces.
///
/// A busy store reports thousands of changes at once, each of which is broadcast. The loop runs between two pieces, so
/// that no tick waits for all of them.
struct StoreBacklog {
  private var events = Queue<StoreEvent>()

  /// The number of reports that the hub handles at once.
  static let reportsMax = 8

  var isEmpty: Bool { events.isEmpty }

  mutating func append(_ more: [StoreEvent]) {
    for event in more {
      guard case .reported(let reports) = event else {
        events.append(event)
        continue
      }
      for start in stride(from: 0, to: reports.count, by: Self.reportsMax) {
        let end = min(start + Self.reportsMax, reports.count)
        events.append(.reported(Array(reports[start..<end])))
      }
    }
  }

  mutating func popFirst() -> StoreEvent? { events.popFirst() }
}
