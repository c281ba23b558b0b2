import TestSupport
import Testing
import TimerCore

@testable import TimerServer

@Suite struct `A queue of deadlines` {
  private func instant(_ seconds: Int) -> Instant { Instant(microseconds: Int64(seconds)) }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `does what a sorted list does`(_ seed: UInt64) {
    var random = SeededGenerator(state: seed)
    var queue = DeadlineQueue<Int>()
    var model: [Int: Instant] = [:]

    for _ in 0..<2_000 {
      let key = Int.random(in: 0..<50, using: &random)
      let instant = instant(Int.random(in: 0..<200, using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        queue.set(key, instant)
        model[key] = instant
      case 6:
        queue.remove(key)
        model[key] = nil
      case 7:
        queue.set(key, nil)
        model[key] = nil
      default:
        let due = queue.popDue(at: instant)
        let expected = model.values.min().flatMap { $0 <= instant ? $0 : nil }
        #expect(due?.instant == expected)
        if let due {
          #expect(model[due.key] == due.instant)
          model[due.key] = nil
        }
      }
      #expect(queue.first == model.values.min())
    }
  }

  @Test func `returns all that is due, earliest first`() {
    var queue = DeadlineQueue<Int>()
    for key in [5, 1, 4, 2, 3] { queue.set(key, instant(key)) }

    var taken: [Int] = []
    while let due = queue.popDue(at: instant(4)) { taken.append(due.key) }

    #expect(taken == [1, 2, 3, 4])
    #expect(queue.first == instant(5))
  }

  @Test func `moves a deadline`() {
    var queue = DeadlineQueue<String>()
    queue.set("a", instant(1))
    queue.set("b", instant(2))

    queue.set("a", instant(3))

    #expect(queue.first == instant(2))
  }

  @Test func `has none when it is empty`() {
    var queue = DeadlineQueue<String>()

    queue.remove("a")

    #expect(queue.first == nil)
    #expect(queue.popDue(at: instant(9)) == nil)
  }
}
