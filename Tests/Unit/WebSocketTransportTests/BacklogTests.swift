import Testing

@testable import WebSocketTransport

@Suite struct `A backlog` {
  final class Reader: BacklogReader {
    var waitingByteCount = 0
    var readProgress: Int64 = 0
    var backlogEntry = BacklogEntry()

    init(waiting: Int = 0) { waitingByteCount = waiting }
  }

  let backlog = Backlog()

  func update(_ reader: Reader, _ waiting: Int, at now: UInt64 = 0) {
    reader.waitingByteCount = waiting
    backlog.update(reader, atMilliseconds: now)
  }

  @Test func `sums the unread bytes and drops readers that have read all`() {
    let (one, other) = (Reader(), Reader())
    update(one, 10)
    update(other, 30)
    update(one, 15)
    update(one, 15)
    #expect(backlog.byteCount == 45)
    #expect(backlog.readers.map(\.backlogEntry.byteCount) == [30, 15])

    update(other, 0)
    #expect(backlog.byteCount == 15)
    update(one, 0)
    #expect(backlog.byteCount == 0 && backlog.isEmpty)
  }

  @Test func `subtracts the bytes of readers that disconnect`() {
    let (one, other) = (Reader(), Reader())
    update(one, 10)
    update(other, 30)
    backlog.beginClosing(other)
    backlog.beginClosing(other)
    #expect((backlog.byteCount, backlog.closingByteCount) == (10, 30))

    update(other, 5)
    #expect((backlog.byteCount, backlog.closingByteCount) == (10, 5))
    update(other, 0)
    #expect((backlog.byteCount, backlog.closingByteCount) == (10, 0))
  }

  @Test func `measures how long a reader has made no progress`() {
    let reader = Reader()
    update(reader, 10, at: 1_000)
    #expect(backlog.idleMilliseconds(of: reader, at: 1_500) == 500)
    #expect(backlog.idleMilliseconds(of: reader, at: 2_000) == 1_000)

    reader.readProgress = 1
    #expect(backlog.idleMilliseconds(of: reader, at: 2_500) == 0)
    #expect(backlog.idleMilliseconds(of: reader, at: 4_000) == 1_500)
  }

  @Test func `counts a changed queue alone as no progress`() {
    let reader = Reader()
    update(reader, 10, at: 0)
    for now in 1...9 {
      update(reader, 10 + now % 3, at: UInt64(now * 100))
      #expect(backlog.idleMilliseconds(of: reader, at: UInt64(now * 100)) == UInt64(now * 100))
    }
  }

  @Test func `starts the measurement again after a reader has read all`() {
    let reader = Reader()
    update(reader, 10, at: 0)
    update(reader, 0, at: 900)
    update(reader, 10, at: 1_000)
    #expect(backlog.idleMilliseconds(of: reader, at: 1_200) == 200)
  }
}

@Suite struct `An outbox` {
  func frame(_ count: Int, _ key: UInt64? = nil) -> Frame {
    Frame(Array(repeating: 0x78, count: count), replacementKey: key)
  }

  /// Bytes of all, how many large ones are not replaced, bytes of all large ones, and of what else is not replaced.
  private func counts(_ outbox: Outbox) -> [Int] {
    [outbox.byteCount, outbox.largeCount, outbox.largeByteCount, outbox.unreplaceableByteCount]
  }

  @Test func `counts large frames by themselves, however they leave`() {
    var outbox = Outbox(largeFrom: 100)
    for count in [10, 100, 300] { outbox.append(frame(count)) }
    #expect(counts(outbox) == [410, 2, 400, 10])

    outbox.append(frame(500, 7))
    #expect(counts(outbox) == [910, 2, 900, 10])
    outbox.append(frame(20, 7))
    #expect(counts(outbox) == [430, 2, 400, 10])

    _ = outbox.popFirst()
    _ = outbox.popFirst()
    #expect(counts(outbox) == [320, 1, 300, 0])

    outbox.removeAll()
    outbox.append(frame(100))
    #expect(counts(outbox) == [100, 1, 100, 0])
  }

  @Test(arguments: [
    // What waits: bytes, and whether a newer frame replaces it; the tail before it; and whether that is too much.
    ([(60, true)], 50, false), ([(60, true), (60, true)], 50, true), ([(60, false)], 50, true),
    ([(60, false)], 40, false), ([(60, false)], 150, false), ([(150, true)], 150, false),
    ([(150, false), (150, false), (150, false)], 150, false),
    ([(150, false), (150, false), (150, false), (150, false)], 150, true),
  ])
  func `is too much`(waiting: [(count: Int, isReplaced: Bool)], tail: Int, exceedsLimit: Bool) {
    var outbox = Outbox(largeFrom: 101)
    for (key, one) in waiting.enumerated() {
      outbox.append(frame(one.count, one.isReplaced ? UInt64(key) : nil))
    }
    #expect(outbox.exceedsLimit(bytesMax: 100, behindTail: tail) == exceedsLimit)
  }
}
