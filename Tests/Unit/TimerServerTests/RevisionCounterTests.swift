import Testing
import TimerCore
import TimerStorage

@testable import TimerServer

@Suite struct `The counter of revisions` {
  private static let clock = ClockReading(server: 0, boot: 0, bootID: "test")

  @Test func `counts up`() {
    var counter = RevisionCounter(ServerRecord())

    #expect((0..<5).map { _ in counter.next() } == [1, 2, 3, 4, 5])
  }

  @Test func `has a ceiling on the disk above all that it gave`() {
    var counter = RevisionCounter(ServerRecord())
    var stored = ServerRecord()

    for _ in 0..<5_000 {
      let revision = counter.next()
      if let record = counter.recordIfDue(Self.clock) { stored = record }

      #expect(stored.revisionCeiling >= revision)
    }
  }

  @Test func `is written seldom`() {
    var counter = RevisionCounter(ServerRecord())

    let records = (0..<5_000).count { _ in
      _ = counter.next()
      guard let record = counter.recordIfDue(Self.clock) else { return false }
      counter.recordWasStored(record)
      return true
    }

    #expect(records <= 100)
  }

  @Test func `goes on above the ceiling after a crash`() {
    var counter = RevisionCounter(ServerRecord(revisionCeiling: 1_000))

    #expect(counter.next() == 1_001)
  }

  @Test func `goes on above what a timer's file has`() {
    var counter = RevisionCounter(ServerRecord(revisionCeiling: 10))

    counter.raise(to: 500)
    counter.raise(to: 20)

    #expect(counter.next() == 501)
  }

  @Test func `is written with each change until it is on the disk`() throws {
    var counter = RevisionCounter(ServerRecord())
    _ = counter.next()
    let due = counter.recordIfDue(Self.clock)
    let record = try #require(due)
    _ = counter.next()
    #expect(counter.recordIfDue(Self.clock) != nil)

    counter.recordWasStored(record)

    #expect(counter.recordIfDue(Self.clock) == nil)
  }

  @Test func `is written with a named removal, and with that one alone`() throws {
    var counter = RevisionCounter(ServerRecord())
    _ = counter.next()
    let first = try #require(counter.recordIfDue(Self.clock))
    counter.recordWasStored(first)
    let tea = try #require(TimerID("tea"))
    let removals = (0..<2).map {
      ServerRecord.Removal(
        timer: tea, request: IdempotencyRecord(requestId: "r-\($0)", revision: $0, at: 0))
    }

    let records = removals.map { counter.recordIfDue(Self.clock, removals: [$0]) }

    #expect(records.map { $0?.removals } == removals.map { [$0] })
    #expect(records.map { $0?.revisionCeiling } == [first.revisionCeiling, first.revisionCeiling])
    #expect(counter.recordIfDue(Self.clock) == nil)
  }

  @Test(arguments: [(5, 1), (5, 500), (300, 200)])
  func `goes on above both when another folder is taken up, and has that written`(
    _ given: Int, _ found: Int
  ) throws {
    var counter = RevisionCounter(ServerRecord())
    for _ in 0..<given { _ = counter.next() }
    if let record = counter.recordIfDue(Self.clock) { counter.recordWasStored(record) }

    counter.reset(to: ServerRecord(revisionCeiling: found))
    let next = counter.next()

    #expect(next == max(given, found) + 1)
    #expect(try #require(counter.recordIfDue(Self.clock)).revisionCeiling >= next)
  }

  @Test func `leaves no gap when the server stops`() {
    var counter = RevisionCounter(ServerRecord())
    _ = counter.next()
    _ = counter.next()

    #expect(counter.shutdownRecord(Self.clock).revisionCeiling == 2)
  }
}
