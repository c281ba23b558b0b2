import CLibuv

/// Frames as they go over the wire, header and payload, one behind the other.
///
/// Each is laid out once and sent to many; adjacent ones are sent by one call. The loop's thread.
@safe final class WireFrames {
  private var bytes: [UInt8] = []
  /// Where each frame ends.
  private var ends: [Int] = []

  var count: Int { ends.count }

  func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  func append(_ frame: Frame) {
    append(frame.text, isBinary: frame.isBinary)
    for text in frame.additional { append(text, isBinary: frame.isBinary) }
    ends.append(bytes.count)
  }

  private func append(_ text: [UInt8], isBinary: Bool) {
    // RFC 6455 §5.2: a final frame; a server's is not masked.
    bytes.append(isBinary ? 0x82 : 0x81)
    appendLength(text.count)
    bytes.append(contentsOf: text)
  }

  private func appendLength(_ count: Int) {
    let lengthBytes: Int
    switch count {
    case ..<126:
      bytes.append(UInt8(count))
      lengthBytes = 0
    case ..<0x1_0000:
      bytes.append(126)
      lengthBytes = 2
    default:
      bytes.append(127)
      lengthBytes = 8
    }
    for place in (0..<lengthBytes).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: count >> (8 * place)))
    }
  }

  func byteRange(of frames: Range<Int>) -> Range<Int> {
    (frames.lowerBound == 0 ? 0 : ends[frames.lowerBound - 1])..<ends[frames.upperBound - 1]
  }

  /// Hands bytes to the kernel. Returns the number that it took, 0 when there is no room, nil when the socket is
  /// broken.
  func send(_ range: Range<Int>, on descriptor: CInt) -> Int? {
    // The array lends its bytes for the call; the kernel copies what it takes.
    let sent = unsafe bytes.withUnsafeBytes { bytes in
      unsafe shim_send(descriptor, bytes.baseAddress?.advanced(by: range.lowerBound), range.count)
    }
    return sent < 0 ? nil : sent
  }

  subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }
}
