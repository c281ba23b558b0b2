/// What waits for one slow reader, in order.
struct Outbox {
  private var frames: [Frame] = []
  private var first = 0
  /// Payload bytes that wait.
  private(set) var byteCount = 0

  var isEmpty: Bool { first == frames.count }

  /// Puts a frame at the end; an unsent one that it replaces is dropped.
  mutating func append(_ frame: Frame) {
    if let key = frame.replaces,
      let older = frames[first...].lastIndex(where: { $0.replaces == key })
    {
      byteCount -= frames[older].byteCount
      frames.remove(at: older)
    }
    frames.append(frame)
    byteCount += frame.byteCount
  }

  mutating func popFirst() -> Frame? {
    guard first < frames.count else { return nil }
    let frame = frames[first]
    first += 1
    byteCount -= frame.byteCount
    if first == frames.count {
      frames.removeAll(keepingCapacity: false)
      first = 0
    } else if first >= 64, first * 2 >= frames.count {
      frames.removeSubrange(..<first)
      first = 0
    }
    return frame
  }

  mutating func removeAll() { self = Outbox() }
}
