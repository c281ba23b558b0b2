/// Values with the instants at which they are due, the earliest first.
///
/// A caller that moves or removes values keeps their indices: it passes a closure, which is called with each value
/// that has another index, and that index.
package struct BinaryHeap<Instant: Comparable, Value> {
  package struct Entry {
    package let due: Instant
    package let value: Value

    @inlinable init(due: Instant, value: Value) {
      self.due = due
      self.value = value
    }
  }

  @usableFromInline var entries: [Entry] = []

  @inlinable package init() {}

  /// The earliest entry of all.
  @inlinable package var first: Entry? { entries.first }

  @inlinable package subscript(index: Int) -> Entry { entries[index] }

  @inlinable package mutating func insert(
    _ value: Value, due: Instant, indexChanged: (Value, Int) -> Void = { _, _ in }
  ) {
    entries.append(Entry(due: due, value: value))
    restoreOrder(from: entries.count - 1, indexChanged)
  }

  /// Gives the value at an index another instant.
  @inlinable package mutating func move(
    at index: Int, to due: Instant, indexChanged: (Value, Int) -> Void = { _, _ in }
  ) {
    entries[index] = Entry(due: due, value: entries[index].value)
    restoreOrder(from: index, indexChanged)
  }

  @inlinable package mutating func remove(
    at index: Int, indexChanged: (Value, Int) -> Void = { _, _ in }
  ) {
    let last = entries.removeLast()
    guard index < entries.count else { return }
    entries[index] = last
    restoreOrder(from: index, indexChanged)
  }

  /// Removes and returns the earliest entry, if it is due.
  @inlinable package mutating func popDue(at now: Instant) -> Entry? {
    guard let first, first.due <= now else { return nil }
    remove(at: 0)
    return first
  }

  /// Moves the entry at an index up or down to where it belongs.
  @inlinable mutating func restoreOrder(from start: Int, _ indexChanged: (Value, Int) -> Void) {
    let entry = entries[start]
    var index = start
    while index > 0, entry.due < entries[(index - 1) / 2].due {
      place(entries[(index - 1) / 2], at: index, indexChanged)
      index = (index - 1) / 2
    }
    while let child = earlierChild(of: index), entries[child].due < entry.due {
      place(entries[child], at: index, indexChanged)
      index = child
    }
    place(entry, at: index, indexChanged)
  }

  @inlinable mutating func place(
    _ entry: Entry, at index: Int, _ indexChanged: (Value, Int) -> Void
  ) {
    entries[index] = entry
    indexChanged(entry.value, index)
  }

  @inlinable func earlierChild(of index: Int) -> Int? {
    let left = 2 * index + 1
    guard left < entries.count else { return nil }
    let right = left + 1
    return right < entries.count && entries[right].due < entries[left].due ? right : left
  }
}
