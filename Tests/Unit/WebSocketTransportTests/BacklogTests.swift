import Testing

@testable import WebSocketTransport

@Suite struct `A backlog` {
  final class Reader: BacklogReader {
    var waitingByteCount = 0
    var takenByteCount: Int64 = 0
    var standing = BacklogStanding()

    init(waiting: Int = 0) { waitingByteCount = waiting }
  }

  let backlog = Backlog()

  func count(_ reader: Reader, _ waiting: Int, at now: UInt64 = 0) {
    reader.waitingByteCount = waiting
    backlog.count(reader, atMilliseconds: now)
  }

  @Test func `sums up what waits, and forgets who has taken all`() {
    let (one, other) = (Reader(), Reader())
    count(one, 10)
    count(other, 30)
    count(one, 15)
    count(one, 15)
    #expect(backlog.byteCount == 45)
    #expect(backlog.readers.map(\.standing.byteCount) == [30, 15])

    count(other, 0)
    #expect(backlog.byteCount == 15)
    count(one, 0)
    #expect(backlog.byteCount == 0 && backlog.isEmpty)
  }

  @Test func `counts those who leave by themselves`() {
    let (one, other) = (Reader(), Reader())
    count(one, 10)
    count(other, 30)
    backlog.beginLeaving(other)
    backlog.beginLeaving(other)
    #expect((backlog.byteCount, backlog.leavingByteCount) == (10, 30))

    count(other, 5)
    #expect((backlog.byteCount, backlog.leavingByteCount) == (10, 5))
    count(other, 0)
    #expect((backlog.byteCount, backlog.leavingByteCount) == (10, 0))
  }

  @Test func `knows how long a reader has taken nothing`() {
    let reader = Reader()
    count(reader, 10, at: 1_000)
    #expect(backlog.idleMilliseconds(of: reader, at: 1_500) == 500)
    #expect(backlog.idleMilliseconds(of: reader, at: 2_000) == 1_000)

    reader.takenByteCount = 1
    #expect(backlog.idleMilliseconds(of: reader, at: 2_500) == 0)
    #expect(backlog.idleMilliseconds(of: reader, at: 4_000) == 1_500)
  }

  @Test func `takes no growth or shrinking of what waits for taking`() {
    let reader = Reader()
    count(reader, 10, at: 0)
    for now in 1...9 {
      count(reader, 10 + now % 3, at: UInt64(now * 100))
      #expect(backlog.idleMilliseconds(of: reader, at: UInt64(now * 100)) == UInt64(now * 100))
    }
  }

  @Test func `begins anew with who had taken all`() {
    let reader = Reader()
    count(reader, 10, at: 0)
    count(reader, 0, at: 900)
    count(reader, 10, at: 1_000)
    #expect(backlog.idleMilliseconds(of: reader, at: 1_200) == 200)
  }
}
