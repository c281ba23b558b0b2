import TimerStorage

/// Events of the store that the hub has not handled yet, in order and in small pieces.
///
/// A busy store reports thousands of changes at once, each of which is broadcast. The loop runs between two pieces, so
/// that no tick waits for all of them.
struct StoreBacklog {
  private var events = Queue<StoreEvent>()

  /// The number of reports, or of changes by other servers, that the hub handles at once.
  static let reportsMax = 8

  var isEmpty: Bool { events.isEmpty }

  mutating func append(_ more: [StoreEvent]) {
    for event in more {
      switch event {
      case .reported(let reports):
        for piece in Self.pieces(of: reports) { events.append(.reported(piece)) }
      case .changed(let changes):
        for piece in Self.pieces(of: changes) { events.append(.changed(piece)) }
      case .external, .behind, .writable, .restored: events.append(event)
      }
    }
  }

  private static func pieces<Element>(of all: [Element]) -> [[Element]] {
    stride(from: 0, to: all.count, by: reportsMax).map { start in
      Array(all[start..<min(start + reportsMax, all.count)])
    }
  }

  mutating func popFirst() -> StoreEvent? { events.popFirst() }
}
