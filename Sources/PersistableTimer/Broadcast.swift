/// Streams that each get every element.
struct Broadcast<Element: Sendable> {
  typealias Continuation = AsyncStream<Element>.Continuation
  private var continuations: [Int: Continuation] = [:]
  private var streamsEver = 0

  var hasListeners: Bool { !continuations.isEmpty }

  /// A stream of what is yielded from now on, and the number by which it is removed.
  mutating func add(_ continuation: Continuation) -> Int {
    streamsEver += 1
    continuations[streamsEver] = continuation
    return streamsEver
  }

  mutating func remove(_ number: Int) {
    continuations[number] = nil
  }

  func yield(_ element: Element) {
    for continuation in continuations.values { continuation.yield(element) }
  }

  /// Removes all streams. The caller has to finish them, outside of any lock, because `finish` calls back.
  mutating func removeAll() -> [Continuation] {
    defer { continuations = [:] }
    return Array(continuations.values)
  }
}
