import TestSupport
import Testing

@testable import SharedAlgorithms

@Suite struct `A binary heap` {
  @Test func `has nothing at first`() {
    var heap = BinaryHeap<Int, String>()

    #expect(heap.first == nil)
    #expect(heap.popDue(at: .max) == nil)
  }

  @Test func `gives what is due, earliest first`() {
    var heap = BinaryHeap<Int, String>()
    for due in [5, 1, 4, 2, 3] { heap.insert("\(due)", due: due) }

    var values: [String] = []
    while let entry = heap.popDue(at: 4) { values.append(entry.value) }

    #expect(values == ["1", "2", "3", "4"])
    #expect(heap.first?.due == 5)
  }

  @Test func `may have a value more than once`() {
    var heap = BinaryHeap<Int, String>()
    heap.insert("a", due: 2)
    heap.insert("a", due: 1)

    #expect(heap.popDue(at: 9)?.due == 1)
    #expect(heap.popDue(at: 9)?.due == 2)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `says where each value is`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    var heap = BinaryHeap<Int, Int>()
    var dues: [Int: Int] = [:]
    var indices: [Int: Int] = [:]

    for _ in 0..<2_000 {
      let value = Int.random(in: 0..<50, using: &random)
      let due = Int.random(in: 0..<200, using: &random)
      if let index = indices[value], due < 60 {
        indices[value] = nil
        dues[value] = nil
        heap.remove(at: index) { indices[$0] = $1 }
      } else if let index = indices[value] {
        dues[value] = due
        heap.move(at: index, to: due) { indices[$0] = $1 }
      } else {
        dues[value] = due
        heap.insert(value, due: due) { indices[$0] = $1 }
      }
      #expect(heap.first?.due == dues.values.min())
      #expect(indices.count == dues.count)
      for (value, index) in indices {
        #expect(heap[index].value == value && heap[index].due == dues[value])
      }
    }
  }
}
