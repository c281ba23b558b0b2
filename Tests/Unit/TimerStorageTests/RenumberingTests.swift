import Testing
import TimerCore

@testable import TimerStorage

@Suite struct `Revisions that a store gives itself` {
  /// A timer with an end and a named change before those of its last one.
  private func record(
    revision: Int, run: Int, ends: [Int] = [], answered: [Int] = []
  ) -> TimerRecord {
    var record = TimerRecord.make(revision: revision)
    record.timer.runRevision = run
    record.ends = ends.map { TimerEnd(at: 0, revision: $0, isDelivered: true) }
    record.answered = answered.map {
      IdempotencyRecord(requestId: "r\($0)", revision: $0, at: 0)
    }
    return record
  }

  @Test func `take the place of those that the server gave`() {
    let final = Renumbering(from: 12, to: 20)

    let next = final.record(
      record(revision: 13, run: 12, ends: [12], answered: [13]), after: nil)

    #expect(next.timer.revision == 21)
    #expect(next.timer.runRevision == 20)
    #expect(next.ends.map(\.revision) == [20])
    #expect(next.answered.map(\.revision) == [21])
  }

  @Test func `leave to the change before what it has from there`() {
    let before = record(revision: 19, run: 18, ends: [5, 17, 19], answered: [3, 18])
    let final = Renumbering(from: 12, to: 20)

    let next = final.record(
      record(revision: 12, run: 10, ends: [9, 11, 12], answered: [10, 12]), after: before)

    #expect(next.timer.revision == 20)
    #expect(next.timer.runRevision == 18)
    #expect(next.ends.map(\.revision) == [17, 19, 20])
    #expect(next.answered.map(\.revision) == [18, 20])
    #expect(next.answered.map(\.requestId) == ["r10", "r12"])
  }

  @Test func `keep what is known of nothing before`() {
    let final = Renumbering(from: 12, to: 20)

    let next = final.record(record(revision: 12, run: 3, ends: [4, 12]), after: nil)

    #expect(next.timer.runRevision == 3)
    #expect(next.ends.map(\.revision) == [4, 20])
  }
}
