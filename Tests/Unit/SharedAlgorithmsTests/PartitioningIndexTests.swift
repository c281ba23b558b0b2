import SharedAlgorithms
import Testing

@Suite struct `The partitioning index` {
  @Test(arguments: 0...9)
  func `is where the second part begins, in a collection of any length`(count: Int) {
    for first in 0...count {
      let elements = (0..<count).map { $0 < first }

      #expect(elements.partitioningIndex { $0 } == first)
    }
  }

  @Test func `is an index of the slice itself`() {
    let slice = [1, 3, 5, 7, 9][1..<4]

    #expect(slice.partitioningIndex { $0 < 6 } == 3)
    #expect(slice.partitioningIndex { $0 < 9 } == 4)
  }

  @Test func `takes a look at few elements`() {
    var looks = 0

    _ = (0..<1_000_000).partitioningIndex { number in
      looks += 1
      return number < 777_777
    }

    #expect(looks <= 20)
  }
}
