/// Instants at which something is to be looked at, the earliest first: a binary heap.
struct Deadlines {
  enum Subject {
    /// A connection has to be checked for signs of life.
    case liveness(ConnectionID)
    /// A connection that was asked to close has to be gone.
    case closeTimeout(ConnectionID)
    /// An HTTP connection may have timed out.
    case httpTimeout(UInt64)
    /// The client behind a TLS relay has had time to read the last bytes of its WebSocket.
    case relayLinger(UInt64)
    /// Readers have to be checked for progress.
    case backlogCheck
    /// There may be room to accept connections again.
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
