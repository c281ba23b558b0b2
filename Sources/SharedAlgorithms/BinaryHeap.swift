/// Values with the instants at which they are due, the earliest first.
///
/// A caller that moves or removes values keeps their indices: it passes a closure, which is called with each value
/// that has another index, and that index.
public struct BinaryHeap<Instant: Comparable, Value> {
  /// A value with its instant.
  public struct Entry {
    /// The instant at which the value is due.
    public let due: Instant
    /// The value itself; there may be equal ones.
    public let value: Value

    @inlinable init(due: Instant, value: Value) {
      self.due = due
      self.value = value
    }
  }

  @usableFromInline var entries: [Entry] = []

  /// Creates an empty heap.
  @inlinable public init() {}

  /// The earliest entry of all.
  @inlinable public var first: Entry? { entries.first }

  /// The entry at an index that the closure got last for its value.
  @inlinable public subscript(index: Int) -> Entry { entries[index] }

  /// Adds a value that is due at an instant.
  @inlinable public mutating func insert(
    _ value: Value, due: Instant, indexChanged: (Value, Int) -> Void = { _, _ in }
  ) {
    entries.append(Entry(due: due, value: value))
    restoreOrder(from: entries.count - 1, indexChanged)
  }

  /// Gives the value at an index another instant.
  @inlinable public mutating func move(
    at index: Int, to due: Instant, indexChanged: (Value, Int) -> Void = { _, _ in }
  ) {
    entries[index] = Entry(due: due, value: entries[index].value)
    restoreOrder(from: index, indexChanged)
  }

  /// Removes the entry at an index.
  @inlinable public mutating func remove(
    at index: Int, indexChanged: (Value, Int) -> Void = { _, _ in }
  ) {
    let last = entries.removeLast()
    guard index < entries.count else { return }
    entries[index] = last
    restoreOrder(from: index, indexChanged)
  }

  /// Removes and returns the earliest entry, if it is due.
  @inlinable public mutating func popDue(at now: Instant) -> Entry? {
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
