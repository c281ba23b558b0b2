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
