import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `Wire frames` {
  private let frames = WireFrames()

  /// All bytes that are laid out.
  private var bytes: [UInt8] {
    frames.count == 0 ? [] : Array(frames[frames.byteRange(of: 0..<frames.count)])
  }

  private func filled(_ count: Int) -> [UInt8] { Array(repeating: 0x2a, count: count) }

  @Test func `have nothing at first`() {
    #expect(frames.count == 0)
  }

  // RFC 6455 §5.7.
  @Test func `lay out a single text as the RFC's example`() {
    frames.append(Frame(Array("Hello".utf8)))

    #expect(bytes == [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
  }

  // RFC 6455 §5.7.
  @Test func `lay out 256 bytes of binary as the RFC's example`() {
    frames.append(Frame(filled(256), isBinary: true))

    #expect(bytes == [0x82, 0x7e, 0x01, 0x00] + filled(256))
  }

  // RFC 6455 §5.7.
  @Test func `lay out 64 KiB of binary as the RFC's example`() {
    frames.append(Frame(filled(65_536), isBinary: true))

    let head: [UInt8] = [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]
    #expect(Array(bytes.prefix(10)) == head)
    #expect(bytes.count == 10 + 65_536)
  }

  // RFC 6455 §5.2: the minimal number of bytes must be used to encode the length.
  @Test(arguments: [
    (0, [0x00]), (1, [0x01]), (2, [0x02]), (124, [0x7c]), (125, [0x7d]),
    (126, [0x7e, 0x00, 0x7e]), (127, [0x7e, 0x00, 0x7f]), (128, [0x7e, 0x00, 0x80]),
    (255, [0x7e, 0x00, 0xff]), (256, [0x7e, 0x01, 0x00]), (0x1234, [0x7e, 0x12, 0x34]),
    (65_534, [0x7e, 0xff, 0xfe]), (65_535, [0x7e, 0xff, 0xff]),
    (65_536, [0x7f, 0, 0, 0, 0, 0, 1, 0, 0]), (65_537, [0x7f, 0, 0, 0, 0, 0, 1, 0, 1]),
    (0x01_2345, [0x7f, 0, 0, 0, 0, 0, 0x01, 0x23, 0x45]),
  ])
  func `write a length in as few bytes as there may be`(count: Int, length: [UInt8]) {
    frames.append(Frame(filled(count)))

    #expect(Array(bytes.dropFirst().prefix(length.count)) == length)
    #expect(bytes.count == 1 + length.count + count)
    #expect(Array(bytes.suffix(count)) == filled(count))
  }

  // RFC 6455 §5.1: a server must not mask; §5.2: FIN is the first bit, the reserved ones are 0.
  @Test(arguments: [(false, 0x81), (true, 0x82)])
  func `are final, not masked and of their kind`(isBinary: Bool, first: UInt8) {
    frames.append(Frame([1, 2, 3], isBinary: isBinary))

    #expect(bytes == [first, 3, 1, 2, 3])
    #expect(bytes[1] & 0x80 == 0)
  }

  @Test func `carry a payload as it is`() {
    let payload = (0...255).map { UInt8($0) }
    frames.append(Frame(payload, isBinary: true))

    #expect(Array(bytes.dropFirst(4)) == payload)
  }

  @Test func `lay out each message of a frame as one of its own`() {
    frames.append(Frame([1], additional: [[2, 3], []]))

    #expect(frames.count == 1)
    #expect(bytes == [0x81, 1, 1, 0x81, 2, 2, 3, 0x81, 0])
  }

  @Test func `give all messages of a frame one kind`() {
    frames.append(Frame([1], additional: [[2]], isBinary: true))

    #expect(bytes == [0x82, 1, 1, 0x82, 1, 2])
  }

  @Test func `lie one behind the other, and each knows where it is`() {
    frames.append(Frame([1]))
    frames.append(Frame([2, 2], additional: [[3]]))
    frames.append(Frame([]))

    #expect(frames.count == 3)
    #expect(frames.byteRange(of: 0..<1) == 0..<3)
    #expect(frames.byteRange(of: 1..<2) == 3..<10)
    #expect(frames.byteRange(of: 2..<3) == 10..<12)
    #expect(Array(frames[frames.byteRange(of: 1..<2)]) == [0x81, 2, 2, 2, 0x81, 1, 3])
  }

  @Test func `go out together when they stand side by side`() {
    for number in 1...4 { frames.append(Frame([UInt8(number)])) }

    #expect(frames.byteRange(of: 1..<3) == 3..<9)
    #expect(frames.byteRange(of: 0..<4) == 0..<12)
    #expect(Array(frames[frames.byteRange(of: 2..<4)]) == [0x81, 1, 3, 0x81, 1, 4])
  }

  @Test func `begin anew when all are removed`() {
    frames.append(Frame(filled(70_000)))
    frames.removeAll()
    #expect(frames.count == 0)

    frames.append(Frame([7]))

    #expect(frames.count == 1)
    #expect(bytes == [0x81, 1, 7])
  }

  @Test func `are broken when there is no socket`() {
    frames.append(Frame([1]))

    #expect(frames.send(0..<3, on: -1) == nil)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `are read back as what was written`(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    var written: [Message] = []
    for _ in 0..<20 {
      let isBinary = Bool.random(using: &random)
      let texts = (0...Int.random(in: 0..<3, using: &random)).map { _ in
        let count = [125, 126, 1_000, 66_000].randomElement(using: &random) ?? 0
        return (0..<Int.random(in: 0...count, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
      }
      frames.append(Frame(texts[0], additional: Array(texts.dropFirst()), isBinary: isBinary))
      written += texts.map { Message(isBinary: isBinary, payload: $0) }
    }

    #expect(try Message.all(in: bytes) == written)
  }
}

/// A whole message, as a client reads it.
private struct Message: Equatable {
  let isBinary: Bool
  let payload: [UInt8]

  struct Malformed: Error {}

  /// RFC 6455 §5.2, for final frames without a mask.
  static func all(in bytes: [UInt8]) throws -> [Message] {
    var messages: [Message] = []
    var rest = bytes[...]
    while let first = rest.popFirst() {
      guard first == 0x81 || first == 0x82, let short = rest.popFirst() else { throw Malformed() }
      var count = Int(short)
      let width = short == 127 ? 8 : short == 126 ? 2 : 0
      if width > 0 {
        count = rest.prefix(width).reduce(0) { $0 << 8 | Int($1) }
        rest.removeFirst(width)
        guard count > (width == 2 ? 125 : 0xffff) else { throw Malformed() }
      }
      guard short < 128, rest.count >= count else { throw Malformed() }
      messages.append(Message(isBinary: first == 0x82, payload: Array(rest.prefix(count))))
      rest.removeFirst(count)
    }
    return messages
  }
}
