/// The frames that wait for one slow reader, in order.
struct Outbox {
  private var frames: [Frame] = []
  private var first = 0
  /// Payload bytes that wait.
  private(set) var byteCount = 0
  /// The size in bytes from which a frame is counted separately.
  let largeFrom: Int
  /// Bytes of the large frames, and the number of those that nothing replaces.
  private(set) var largeByteCount = 0
  private(set) var largeCount = 0
  /// Bytes of the other frames that nothing replaces.
  private(set) var unreplaceableByteCount = 0

  init(largeFrom: Int = .max) { self.largeFrom = largeFrom }

  var isEmpty: Bool { first == frames.count }

  /// Puts a frame at the end; an unsent one that it replaces is dropped.
  mutating func append(_ frame: Frame) {
    if let key = frame.replacementKey,
      let older = frames[first...].lastIndex(where: { $0.replacementKey == key })
    {
      count(frames[older], -1)
      frames.remove(at: older)
    }
    frames.append(frame)
    count(frame, 1)
  }

  private mutating func count(_ frame: Frame, _ sign: Int) {
    let bytes = frame.byteCount
    byteCount += sign * bytes
    if bytes >= largeFrom {
      largeByteCount += sign * bytes
      if frame.replacementKey == nil { largeCount += sign }
    } else if frame.replacementKey == nil {
      unreplaceableByteCount += sign * bytes
    }
  }

  /// Returns whether more bytes wait than allowed, behind the tail of the frame that is being sent.
  ///
  /// A frame larger than the limit does not count, since a slow reader could never get it otherwise, but only a few of
  /// them may wait. The tail does not count towards replaceable frames: there is at most one of a kind, and a reader
  /// that is a tick behind gets the newest.
  func exceedsLimit(bytesMax: Int, behindTail tail: Int, inRelay: Int = 0) -> Bool {
    let isTailLarge = tail > bytesMax
    return largeCount + (isTailLarge ? 1 : 0) > Self.largeMax
      || unreplaceableByteCount + (isTailLarge ? 0 : tail) + inRelay > bytesMax
      || byteCount - largeByteCount > bytesMax
  }

  /// Several requests may have been taken before the first large answer made their connection wait.
  private static let largeMax = 4

  mutating func popFirst() -> Frame? {
    guard first < frames.count else { return nil }
    let frame = frames[first]
    first += 1
    count(frame, -1)
    if first == frames.count {
      frames.removeAll(keepingCapacity: false)
      first = 0
    } else if first >= 64, first * 2 >= frames.count {
      frames.removeSubrange(..<first)
      first = 0
    }
    return frame
  }

  mutating func removeAll() { self = Outbox(largeFrom: largeFrom) }
}
