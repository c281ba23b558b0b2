import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `The deadlines of a loop` {
  /// Deadlines of HTTP connections with these numbers, each due at its instant.
  private func deadlines(_ dues: [(number: UInt64, due: UInt64)]) -> Deadlines {
    var deadlines = Deadlines()
    for one in dues { deadlines.add(.httpTimeout(one.number), atMilliseconds: one.due) }
    return deadlines
  }

  /// The numbers of all connections that are due, in the order in which they are handed out.
  private func popped(_ deadlines: inout Deadlines, at now: UInt64) -> [UInt64] {
    var numbers: [UInt64] = []
    while let subject = deadlines.popDue(atMilliseconds: now) {
      guard case .httpTimeout(let number) = subject else { continue }
      numbers.append(number)
    }
    return numbers
  }

  @Test func `are none at first`() {
    var deadlines = Deadlines()

    #expect(deadlines.earliest == nil)
    #expect(deadlines.popDue(atMilliseconds: .max) == nil)
  }

  @Test func `are due at their instant, and not a millisecond before`() {
    var deadlines = deadlines([(1, 1_000)])

    #expect(popped(&deadlines, at: 999) == [])
    #expect(deadlines.earliest == 1_000)
    #expect(popped(&deadlines, at: 1_000) == [1])
    #expect(deadlines.earliest == nil)
  }

  @Test func `are due after their instant too`() {
    var deadlines = deadlines([(1, 1_000), (2, 0)])

    #expect(popped(&deadlines, at: .max) == [2, 1])
  }

  @Test(
    arguments: [
      [1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 1, 5, 2, 4], [2, 1], [1], [4, 1, 3, 2, 7, 6, 5],
    ] as [[UInt64]])
  func `come in the order of their instants`(order: [UInt64]) {
    var deadlines = deadlines(order.map { ($0, $0 * 10) })

    #expect(deadlines.earliest == 10)
    #expect(popped(&deadlines, at: 1_000) == order.sorted())
  }

  @Test func `leave those that are not due yet`() {
    var deadlines = deadlines([(5, 50), (1, 10), (4, 40), (2, 20), (3, 30)])

    #expect(popped(&deadlines, at: 30) == [1, 2, 3])
    #expect(deadlines.earliest == 40)
    #expect(popped(&deadlines, at: 50) == [4, 5])
  }

  @Test func `of one instant come all, each once`() {
    var deadlines = deadlines((0..<100).map { ($0, 7) })

    #expect(popped(&deadlines, at: 6) == [])
    #expect(popped(&deadlines, at: 7).sorted() == Array(0..<100))
    #expect(popped(&deadlines, at: 7) == [])
  }

  @Test func `may be several of one subject`() {
    var deadlines = deadlines([(1, 30), (1, 10), (1, 20)])

    #expect(popped(&deadlines, at: 20) == [1, 1])
    #expect(deadlines.earliest == 30)
  }

  @Test func `may be added while others are handed out`() {
    var deadlines = deadlines([(1, 10), (3, 30)])

    #expect(popped(&deadlines, at: 10) == [1])
    deadlines.add(.httpTimeout(2), atMilliseconds: 20)
    deadlines.add(.httpTimeout(0), atMilliseconds: 0)

    #expect(deadlines.earliest == 0)
    #expect(popped(&deadlines, at: 30) == [0, 2, 3])
  }

  @Test func `say what they are about`() {
    var deadlines = Deadlines()
    let subjects: [Deadlines.Subject] = [
      .liveness(ConnectionID(1)), .closeTimeout(ConnectionID(2)), .httpTimeout(3), .relayLinger(4),
      .backlogCheck,
      .acceptCheck,
    ]
    for (due, subject) in subjects.enumerated() {
      deadlines.add(subject, atMilliseconds: UInt64(due))
    }

    let popped = subjects.map { _ in deadlines.popDue(atMilliseconds: 10) }

    #expect(popped.map { "\($0 as Any)" } == subjects.map { "\(Optional($0) as Any)" })
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `do as a sorted list does, whatever comes`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    var deadlines = Deadlines()
    var list: [UInt64] = []
    var now: UInt64 = 0
    for _ in 0..<500 {
      if Int.random(in: 0..<3, using: &random) > 0 {
        // The number of each is its instant, so that equal ones may come in any order.
        let due = now + UInt64.random(in: 0..<100, using: &random)
        deadlines.add(.httpTimeout(due), atMilliseconds: due)
        list.append(due)
        list.sort()
      } else {
        now += UInt64.random(in: 0..<50, using: &random)
        let due = list.prefix { $0 <= now }
        #expect(popped(&deadlines, at: now) == Array(due))
        list.removeFirst(due.count)
      }
      #expect(deadlines.earliest == list.first)
    }
    #expect(popped(&deadlines, at: .max) == list)
  }
}
