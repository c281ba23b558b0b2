import SharedAlgorithms

/// Instants at which something is to be checked, the earliest first.
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

  private var heap = BinaryHeap<UInt64, Subject>()

  var earliest: UInt64? { heap.first?.due }

  mutating func add(_ subject: Subject, atMilliseconds due: UInt64) {
    heap.insert(subject, due: due)
  }

  /// Takes out the earliest, if it is due.
  mutating func popDue(atMilliseconds now: UInt64) -> Subject? {
    heap.popDue(at: now)?.value
  }
}
