import TimerCore

/// Instants at which something is due, each under a key: a heap, so that what is far off costs nothing.
struct DeadlineQueue<Key: Hashable> {
  private var heap: [Entry] = []
  private var places: [Key: Int] = [:]

  private struct Entry {
    let key: Key
    let instant: Instant
  }

  /// The earliest instant of all.
  var first: Instant? {
    heap.first?.instant
  }

  /// Sets or moves the deadline of a key; nil takes it away.
  mutating func set(_ key: Key, _ instant: Instant?) {
    guard let instant else { return remove(key) }
    if let place = places[key] {
      guard heap[place].instant != instant else { return }
      heap[place] = Entry(key: key, instant: instant)
      restoreOrder(from: place)
    } else {
      heap.append(Entry(key: key, instant: instant))
      places[key] = heap.count - 1
      restoreOrder(from: heap.count - 1)
    }
  }

  mutating func remove(_ key: Key) {
    guard let place = places.removeValue(forKey: key) else { return }
    let last = heap.removeLast()
    guard place < heap.count else { return }
    heap[place] = last
    places[last.key] = place
    restoreOrder(from: place)
  }

  /// Takes the earliest deadline that is due at `now`.
  mutating func popDue(at now: Instant) -> (key: Key, instant: Instant)? {
    guard let entry = heap.first, entry.instant <= now else { return nil }
    remove(entry.key)
    return (entry.key, entry.instant)
  }

  // MARK: The heap

  private mutating func restoreOrder(from start: Int) {
    var place = start
    while place > 0, heap[place].instant < heap[(place - 1) / 2].instant {
      exchange(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
    while let child = earlierChild(of: place), heap[child].instant < heap[place].instant {
      exchange(place, child)
      place = child
    }
  }

  private func earlierChild(of place: Int) -> Int? {
    let left = 2 * place + 1
    guard left < heap.count else { return nil }
    let right = left + 1
    return right < heap.count && heap[right].instant < heap[left].instant ? right : left
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    places[heap[one].key] = one
    places[heap[other].key] = other
  }
}
