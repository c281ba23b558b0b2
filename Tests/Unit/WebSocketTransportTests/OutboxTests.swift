import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `An outbox` {
  private func frame(_ count: Int, _ key: UInt64? = nil) -> Frame {
    Frame(Array(repeating: 0x78, count: count), replacementKey: key)
  }

  private func text(_ words: String, _ key: UInt64? = nil) -> Frame {
    Frame(Array(words.utf8), replacementKey: key)
  }

  private func outbox(_ frames: [Frame], largeFrom: Int = .max) -> Outbox {
    var outbox = Outbox(largeFrom: largeFrom)
    for frame in frames { outbox.append(frame) }
    return outbox
  }

  /// All remaining frames, in order.
  private func rest(of outbox: Outbox) -> [Frame] {
    var outbox = outbox
    var frames: [Frame] = []
    while let frame = outbox.popFirst() { frames.append(frame) }
    return frames
  }

  /// Bytes of all, how many large ones are not replaced, bytes of all large ones, and of what else is
  /// not replaced.
  private func counts(_ outbox: Outbox) -> [Int] {
    [outbox.byteCount, outbox.largeCount, outbox.largeByteCount, outbox.unreplaceableByteCount]
  }

  @Test func `has nothing at first`() {
    var outbox = Outbox()

    #expect(outbox.isEmpty)
    #expect(outbox.popFirst() == nil)
    #expect(counts(outbox) == [0, 0, 0, 0])
  }

  @Test func `hands frames out in the order in which they came`() {
    let frames = [text("a"), text("b"), text("a"), text("c", 1), text("d", 2)]

    #expect(rest(of: outbox(frames)) == frames)
  }

  @Test func `is empty again when the last frame is out`() {
    var outbox = outbox([text("a"), text("b")])

    _ = outbox.popFirst()
    #expect(!outbox.isEmpty)
    _ = outbox.popFirst()

    #expect(outbox.isEmpty && outbox.byteCount == 0)
  }

  @Test func `puts a newer frame at the end and drops the one that it replaces`() {
    let frames = [text("tick 1", 7), text("change"), text("tick 2", 7)]

    #expect(rest(of: outbox(frames)) == [text("change"), text("tick 2", 7)])
  }

  @Test func `drops nothing of another key, nor what has none`() {
    let frames = [text("a", 1), text("a"), text("a", 2), text("a"), text("a", 3)]

    #expect(rest(of: outbox(frames)) == frames)
  }

  @Test func `holds one frame of a key, however often it is replaced`() {
    let ticks = (0..<1_000).map { text("tick \($0)", 7) }

    #expect(rest(of: outbox(ticks)) == [text("tick 999", 7)])
  }

  @Test func `replaces nothing that is out already`() {
    var outbox = outbox([text("tick 1", 7), text("change")])

    #expect(outbox.popFirst() == text("tick 1", 7))
    outbox.append(text("tick 2", 7))

    #expect(rest(of: outbox) == [text("change"), text("tick 2", 7)])
    #expect(outbox.byteCount == 12)
  }

  @Test func `counts and replaces all messages of a frame together`() {
    let set = Frame([1, 2], additional: [[3, 4, 5], [6]], replacementKey: 7)
    var outbox = outbox([set])
    #expect(outbox.byteCount == 6)

    outbox.append(Frame([9], replacementKey: 7))

    #expect(rest(of: outbox) == [Frame([9], replacementKey: 7)])
    #expect(outbox.byteCount == 1)
  }

  @Test func `counts large frames by themselves, however they leave`() {
    var outbox = Outbox(largeFrom: 100)
    for count in [10, 100, 300] { outbox.append(frame(count)) }
    #expect(counts(outbox) == [410, 2, 400, 10])

    outbox.append(frame(500, 7))
    #expect(counts(outbox) == [910, 2, 900, 10])
    outbox.append(frame(20, 7))
    #expect(counts(outbox) == [430, 2, 400, 10])

    _ = outbox.popFirst()
    _ = outbox.popFirst()
    #expect(counts(outbox) == [320, 1, 300, 0])

    outbox.removeAll()
    outbox.append(frame(100))
    #expect(counts(outbox) == [100, 1, 100, 0])
  }

  @Test(arguments: [(99, 0), (100, 1), (101, 1)])
  func `counts a frame as large from the given size on`(bytes: Int, largeCount: Int) {
    let outbox = outbox([frame(bytes)], largeFrom: 100)

    #expect(outbox.largeCount == largeCount)
    #expect(outbox.largeByteCount == (largeCount == 0 ? 0 : bytes))
    #expect(outbox.unreplaceableByteCount == (largeCount == 0 ? bytes : 0))
  }

  @Test func `takes no frame for a large one unless a size was given`() {
    #expect(counts(outbox([frame(1_000_000)])) == [1_000_000, 0, 0, 1_000_000])
  }

  @Test func `sums all messages of a frame before it is called large`() {
    let halves = Frame(Array(repeating: 0, count: 50), additional: [Array(repeating: 0, count: 50)])

    #expect(counts(outbox([halves], largeFrom: 100)) == [100, 1, 100, 0])
  }

  @Test func `forgets all and keeps what counts as large`() {
    var outbox = outbox([frame(10), frame(200), frame(20, 1)], largeFrom: 100)

    outbox.removeAll()

    #expect(outbox.isEmpty && outbox.popFirst() == nil)
    #expect(counts(outbox) == [0, 0, 0, 0])
    #expect(outbox.largeFrom == 100)
  }

  // The frames before the first waiting one are freed now and then, which moves all others.
  @Test(arguments: [1, 2, 63, 64, 65, 127, 128, 129, 1_000])
  func `keeps order and replacing while many leave`(count: Int) {
    var outbox = outbox((0..<count).map { text("\($0)", UInt64($0)) })

    for number in 0..<count / 2 { #expect(outbox.popFirst() == text("\(number)", UInt64(number))) }
    let last = UInt64(count - 1)
    outbox.append(text("new", last))

    let middle = (count / 2..<count - 1).map { text("\($0)", UInt64($0)) }
    #expect(rest(of: outbox) == middle + [text("new", last)])
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `does as a plain list does, whatever comes`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    var outbox = Outbox(largeFrom: 50)
    var list: [Frame] = []
    for _ in 0..<1_000 {
      if UInt64.random(in: 0..<10, using: &random) < 4 {
        #expect(outbox.popFirst() == (list.isEmpty ? nil : list.removeFirst()))
      } else {
        let key = UInt64.random(in: 0..<200, using: &random)
        let new = frame(.random(in: 0..<100, using: &random), key < 150 ? key : nil)
        list.removeAll { $0.replacementKey != nil && $0.replacementKey == new.replacementKey }
        list.append(new)
        outbox.append(new)
      }
      let large = list.filter { $0.byteCount >= 50 }
      let lasting = list.filter { $0.replacementKey == nil }
      let expected = [
        list.reduce(0) { $0 + $1.byteCount }, large.count { $0.replacementKey == nil },
        large.reduce(0) { $0 + $1.byteCount },
        lasting.filter { $0.byteCount < 50 }.reduce(0) { $0 + $1.byteCount },
      ]
      #expect(counts(outbox) == expected)
    }
    #expect(rest(of: outbox) == list)
  }
}

@Suite struct `An outbox that fills up` {
  /// Whether frames of these sizes exceed a limit of 100 bytes.
  private func exceedsLimit(
    lasting: [Int] = [], replaced: [Int] = [], tail: Int = 0, inRelay: Int = 0
  ) -> Bool {
    var outbox = Outbox(largeFrom: 101)
    for count in lasting { outbox.append(Frame(Array(repeating: 0, count: count))) }
    for (key, count) in replaced.enumerated() {
      outbox.append(Frame(Array(repeating: 0, count: count), replacementKey: UInt64(key)))
    }
    return outbox.exceedsLimit(bytesMax: 100, behindTail: tail, inRelay: inRelay)
  }

  @Test(arguments: [
    // The frames that wait, as bytes and whether a newer frame replaces them; the tail before them; and whether that
    // exceeds the limit.
    ([(60, true)], 50, false), ([(60, true), (60, true)], 50, true), ([(60, false)], 50, true),
    ([(60, false)], 40, false), ([(60, false)], 150, false), ([(150, true)], 150, false),
    ([(150, false), (150, false), (150, false)], 150, false),
    ([(150, false), (150, false), (150, false), (150, false)], 150, true),
  ])
  func `is too much`(waiting: [(count: Int, isReplaced: Bool)], tail: Int, exceedsLimit: Bool) {
    var outbox = Outbox(largeFrom: 101)
    for (key, one) in waiting.enumerated() {
      let bytes = Array(repeating: UInt8(0x78), count: one.count)
      outbox.append(Frame(bytes, replacementKey: one.isReplaced ? UInt64(key) : nil))
    }
    #expect(outbox.exceedsLimit(bytesMax: 100, behindTail: tail) == exceedsLimit)
  }

  @Test func `is not too much while nothing waits`() {
    #expect(!exceedsLimit())
  }

  @Test func `takes as many bytes as the bound, and not one more`() {
    #expect(!exceedsLimit(lasting: [40, 60]))
    #expect(exceedsLimit(lasting: [40, 61]))
    #expect(!exceedsLimit(replaced: [40, 60]))
    #expect(exceedsLimit(replaced: [40, 61]))
    #expect(!exceedsLimit(lasting: [40], replaced: [60]))
    #expect(exceedsLimit(lasting: [40], replaced: [61]))
  }

  @Test func `counts the tail with what nothing replaces`() {
    #expect(!exceedsLimit(lasting: [40], tail: 60))
    #expect(exceedsLimit(lasting: [40], tail: 61))
  }

  @Test func `does not count the tail with what a newer frame replaces`() {
    #expect(!exceedsLimit(replaced: [40, 60], tail: 100))
  }

  @Test func `counts what lies in the relay like a tail`() {
    #expect(!exceedsLimit(lasting: [40], tail: 30, inRelay: 30))
    #expect(exceedsLimit(lasting: [40], tail: 30, inRelay: 31))
  }

  // If the tail of a large frame counted, a slow reader could never get a frame that is larger than the limit.
  @Test func `lets a tail of a large frame be, and not one of the bound`() {
    #expect(exceedsLimit(lasting: [1], tail: 100))
    #expect(!exceedsLimit(lasting: [1], tail: 101))
    #expect(!exceedsLimit(lasting: [100], tail: 1_000_000))
  }

  @Test func `lets a large frame be, whatever its size`() {
    #expect(!exceedsLimit(lasting: [1_000_000]))
    #expect(!exceedsLimit(replaced: [1_000_000]))
    #expect(!exceedsLimit(lasting: [1_000_000, 100]))
    #expect(exceedsLimit(lasting: [1_000_000, 101 - 1, 1]))
  }

  @Test func `takes a few large frames only, the one under way included`() {
    #expect(!exceedsLimit(lasting: [101, 101, 101, 101]))
    #expect(exceedsLimit(lasting: [101, 101, 101, 101, 101]))
    #expect(exceedsLimit(lasting: [101, 101, 101, 101], tail: 101))
  }

  @Test func `takes any number of large frames that newer ones replace`() {
    #expect(!exceedsLimit(replaced: Array(repeating: 101, count: 50)))
  }
}
