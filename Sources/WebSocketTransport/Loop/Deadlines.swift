/// Instants at which something is to be looked at, the earliest first: a binary heap.
struct Deadlines {
  enum Subject {
    /// Whether a connection has been silent for too long.
    case liveness(ConnectionID)
    /// Whether a connection that was told to close is gone.
    case closeTimeout(ConnectionID)
    /// Whether an HTTP connection is overdue.
    case httpTimeout(UInt64)
    /// Whether a TLS client whose WebSocket is over is gone.
    case relayLinger(UInt64)
    /// Who has taken nothing for too long of what waits.
    case backlogCheck
    /// Who waits to be accepted may have room now.
    case acceptCheck
  }

  private var heap: [(due: UInt64, subject: Subject)] = []

  var earliest: UInt64? { heap.first?.due }

  mutating func add(_ subject: Subject, atMilliseconds due: UInt64) {
    heap.append((due, subject))
    var child = heap.count - 1
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Takes out the earliest, if it is due.
  mutating func popDue(atMilliseconds now: UInt64) -> Subject? {
    guard let first = heap.first, first.due <= now else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.subject }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].due < heap[least].due { least = child }
      if least == parent { return first.subject }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
