/// The body of one request, as it arrives.
struct HTTPBody {
  private enum Framing {
    case length(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailer
    case whole
  }

  enum Progress: Equatable {
    case incomplete, whole, tooLong, malformed
  }

  private(set) var bytes: [UInt8] = []
  private var framing: Framing
  private let bytesMax: Int
  /// Framing bytes read so far, which are bounded too.
  private var overhead = 0

  /// nil when the head already says that the body is too long.
  init?(of head: HTTPHead, bytesMax: Int) {
    self.bytesMax = bytesMax
    if head.headers["transfer-encoding"] != nil {
      framing = .chunkSize
    } else if let length = head.headers["content-length"] {
      guard let length = Int(length), length <= bytesMax else { return nil }
      framing = length == 0 ? .whole : .length(left: length)
    } else {
      framing = .whole
    }
  }

  var isWhole: Bool {
    if case .whole = framing { true } else { false }
  }

  /// Takes this body's bytes from the front of what has arrived.
  mutating func take(from input: inout [UInt8]) -> Progress {
    var taken = 0
    defer { input.removeFirst(taken) }
    while true {
      switch framing {
      case .whole: return .whole
      case .length(let left):
        let count = min(left, input.count - taken)
        bytes += input[taken..<taken + count]
        taken += count
        framing = left == count ? .whole : .length(left: left - count)
        if left > count { return .incomplete }
      case .chunk(let left):
        let count = min(left, input.count - taken)
        bytes += input[taken..<taken + count]
        taken += count
        framing = left == count ? .chunkEnd : .chunk(left: left - count)
        if left > count { return .incomplete }
      case .chunkSize, .chunkEnd, .trailer:
        guard let end = input[taken...].firstIndex(of: UInt8(ascii: "\n")) else {
          return input.count - taken > 1_024 ? .malformed : .incomplete
        }
        var line = input[taken..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        overhead += end + 1 - taken
        taken = end + 1
        guard overhead <= bytesMax + 8_192 else { return .tooLong }
        if let problem = read(line: line) { return problem }
      }
    }
  }

  /// RFC 9112 §7.1: a chunk's size, the empty line after a chunk, or a trailer field (passed over).
  private mutating func read(line: ArraySlice<UInt8>) -> Progress? {
    switch framing {
    case .chunkEnd:
      framing = .chunkSize
      return line.isEmpty ? nil : .malformed
    case .trailer:
      if line.isEmpty { framing = .whole }
      return nil
    default:
      let digits = line.prefix { hexadecimalValue($0) != nil }
      let rest = line[digits.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
      guard (1...8).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";") else {
        return .malformed
      }
      let size = digits.reduce(0) { $0 << 4 | Int(hexadecimalValue($1) ?? 0) }
      guard bytes.count + size <= bytesMax else { return .tooLong }
      framing = size == 0 ? .trailer : .chunk(left: size)
      return nil
    }
  }
}
