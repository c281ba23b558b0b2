import SharedAlgorithms
import TimerCore

/// Instants at which something is due, each under a key: a heap, so that what is far off costs nothing.
struct DeadlineQueue<Key: Hashable> {
  private var heap = BinaryHeap<Instant, Key>()
  private var indices: [Key: Int] = [:]

  /// The earliest instant of all.
  var first: Instant? {
    heap.first?.due
  }

  /// Sets or moves the deadline of a key; nil takes it away.
  mutating func set(_ key: Key, _ instant: Instant?) {
    guard let instant else { return remove(key) }
    if let index = indices[key] {
      guard heap[index].due != instant else { return }
      heap.move(at: index, to: instant) { indices[$0] = $1 }
    } else {
      heap.insert(key, due: instant) { indices[$0] = $1 }
    }
  }

  mutating func remove(_ key: Key) {
    guard let index = indices.removeValue(forKey: key) else { return }
    heap.remove(at: index) { indices[$0] = $1 }
  }

  /// Takes the earliest deadline that is due at `now`.
  mutating func popDue(at now: Instant) -> (key: Key, instant: Instant)? {
    guard let entry = heap.first, entry.due <= now else { return nil }
    remove(entry.value)
    return (entry.value, entry.due)
  }
}
