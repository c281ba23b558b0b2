import Testing

@testable import TimerStorage

@Suite struct `A recheck of a change in the folder` {
  @Test func `confirms a finding that is still there`() throws {
    var rechecks = Rechecks<String, Int>()
    let expected = rechecks.schedule("tea", finding: 1)
    let number = try #require(expected)

    let found = rechecks.complete("tea", number)

    #expect(found == 1)
    #expect(rechecks.subjects == [])
  }

  @Test func `is scheduled once, however often the same is found`() {
    var rechecks = Rechecks<String, Int>()
    let numbers = [("tea", 1), ("tea", 1), ("rice", 1)].map { rechecks.schedule($0, finding: $1) }

    #expect(numbers.map { $0 == nil } == [false, true, false])
  }

  @Test func `is cancelled when the file was well in between`() throws {
    var rechecks = Rechecks<String, Int>()
    let first = rechecks.schedule("tea", finding: 1)
    rechecks.cancel("tea")
    let second = rechecks.schedule("tea", finding: 1)

    let found = try [first, second].map { rechecks.complete("tea", try #require($0)) }

    #expect(found == [nil, 1])
  }

  @Test func `is cancelled when something else was found in between`() throws {
    var rechecks = Rechecks<String, Int>()
    let first = rechecks.schedule("tea", finding: 1)
    let second = rechecks.schedule("tea", finding: 2)

    let found = try [first, second, second].map { rechecks.complete("tea", try #require($0)) }

    #expect(found == [nil, 2, nil])
  }
}

@Suite struct `Looking through a folder` {
  @Test(arguments: [(0, 1), (0.01, 1), (0.05, 5), (0.1, 10), (60, 10)])
  func `pauses for as long as a scan takes, within bounds`(seconds: Double, pause: Double) {
    #expect(abs(FolderPolling.pause(afterLookOf: seconds) - pause) < 1e-9)
  }
}
