import Testing
import TimerStorage

@testable import TimerServer

@Suite struct `A backlog of storage events` {
  private func stored(_ tickets: ClosedRange<UInt64>) -> StoreEvent {
    .reported(tickets.map { StoreReport(ticket: $0, outcome: .made) })
  }

  /// The tickets of each piece; empty for an event that is no report.
  private func pieces(_ backlog: inout StoreBacklog) -> [[UInt64]] {
    var pieces: [[UInt64]] = []
    while let note = backlog.popFirst() {
      if case .reported(let reports) = note {
        pieces.append(reports.map(\.ticket))
      } else {
        pieces.append([])
      }
    }
    return pieces
  }

  @Test func `is handled in small batches, in order`() {
    var backlog = StoreBacklog()

    backlog.append([stored(1...3), stored(4...22)])
    let pieces = pieces(&backlog)

    #expect(pieces.map(\.count) == [3, 8, 8, 3])
    #expect(pieces.flatMap(\.self) == Array(1...22))
  }

  @Test func `is handled in small batches of other servers' changes, too`() {
    var backlog = StoreBacklog()
    let changes = (1...20).map {
      RemoteChange(
        stamp: ChangeStamp(server: "a", ticket: UInt64($0)), revision: $0, timers: [:])
    }

    backlog.append([.changed(changes)])
    var pieces: [[Int]] = []
    while case .changed(let piece)? = backlog.popFirst() { pieces.append(piece.map(\.revision)) }

    #expect(pieces == [Array(1...8), Array(9...16), Array(17...20)])
  }

  @Test func `is handled before later events`() {
    var backlog = StoreBacklog()
    backlog.append([stored(1...20)])
    _ = backlog.popFirst()

    backlog.append([.external([]), stored(21...22)])
    let pieces = pieces(&backlog)

    #expect(pieces == [Array(9...16), Array(17...20), [], [21, 22]])
  }

  @Test func `is empty when all events were handled, and without events`() {
    var backlog = StoreBacklog()
    backlog.append([.reported([])])
    #expect(backlog.isEmpty)

    backlog.append([stored(1...9)])
    _ = backlog.popFirst()
    #expect(!backlog.isEmpty)
    _ = backlog.popFirst()

    #expect(backlog.isEmpty)
    let next = backlog.popFirst()
    #expect(next.map { _ in true } == nil)
  }
}
