import CLLHTTP

/// The requests of one connection as llhttp reads them, one at a time.
@safe final class HTTPParser {
  // Owned by this object, freed with it, and used on the loop's thread; llhttp borrows this object, whose
  // life spans that of every call below.
  private let raw = UnsafeMutablePointer<llhttp_t>.allocate(capacity: 1)
  private let headBytesMax: Int
  private let bodyBytesMax: Int

  /// The names, in lowercase, and values of the head's fields, one behind the other; trailer fields are ignored.
  fileprivate(set) var text: [UInt8] = []
  /// The ranges of each field's name and value in `text`.
  private(set) var fields: [(name: Range<Int>, value: Range<Int>)] = []
  fileprivate(set) var body: [UInt8] = []
  private(set) var isHeadComplete = false
  private(set) var isComplete = false
  /// Where the name of the field under way begins and ends.
  private var name = 0..<0
  private var consumedCount = 0
  /// The request line. It is kept because llhttp also accepts those of other protocols, such as RTSP.
  private var line: [UInt8] = []
  private var isLineComplete = false
  /// The length of the target, as far as llhttp has read it.
  fileprivate var targetByteCount = 0
  private var refusal: HTTPRefusal?

  init(headBytesMax: Int, bodyBytesMax: Int) {
    self.headBytesMax = headBytesMax
    self.bodyBytesMax = bodyBytesMax
    // The size of a browser's handshake.
    text.reserveCapacity(512)
    fields.reserveCapacity(16)
    unsafe llhttp_init(raw, HTTP_REQUEST, Self.settings)
    unsafe raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit { unsafe raw.deallocate() }

  // The callbacks that all parsers share. They are written once, before first use, and never freed.
  private nonisolated(unsafe) static let settings: UnsafeMutablePointer<llhttp_settings_t> = {
    let settings = UnsafeMutablePointer<llhttp_settings_t>.allocate(capacity: 1)
    unsafe llhttp_settings_init(settings)
    unsafe settings.pointee.on_url = { raw, _, count in
      unsafe owner(raw).targetByteCount += count
      return 0
    }
    unsafe settings.pointee.on_header_field = { unsafe collect(&owner($0).text, $1, $2) }
    unsafe settings.pointee.on_header_field_complete = { unsafe owner($0).endName() }
    unsafe settings.pointee.on_header_value = { unsafe collect(&owner($0).text, $1, $2) }
    unsafe settings.pointee.on_header_value_complete = { unsafe owner($0).endField() }
    unsafe settings.pointee.on_headers_complete = { unsafe owner($0).endHead() }
    unsafe settings.pointee.on_body = { unsafe collect(&owner($0).body, $1, $2) }
    unsafe settings.pointee.on_message_complete = { unsafe owner($0).endMessage() }
    return unsafe settings
  }()

  var method: String {
    // A constant of llhttp's.
    unsafe String(cString: llhttp_method_name(llhttp_method(UInt32(raw.pointee.method))))
  }

  var version: (major: UInt8, minor: UInt8) {
    unsafe (raw.pointee.http_major, raw.pointee.http_minor)
  }

  /// The target as it came: what follows the method and its blanks in the request line.
  var target: ArraySlice<UInt8> {
    let blank = UInt8(ascii: " ")
    return line.drop { $0 != blank }.drop { $0 == blank }.prefix(targetByteCount)
  }

  /// True if the request line names HTTP, as RFC 9112 §2.3 requires, and not RTSP or ICE.
  private var isHTTP: Bool {
    line[target.endIndex...].drop { $0 == UInt8(ascii: " ") }.starts(with: "HTTP/".utf8)
  }

  /// True if part of a request has been read.
  var hasBegun: Bool { consumedCount > 0 }

  /// Begins with the next request.
  func restart() {
    unsafe llhttp_reset(raw)
    (text, fields, body) = ([], [], [])
    (name, isHeadComplete, isComplete, consumedCount) = (0..<0, false, false, 0)
    (line, isLineComplete, targetByteCount) = ([], false, 0)
  }

  /// Takes bytes of the request from the front of what has arrived, up to its end.
  func consume(from input: inout [UInt8]) {
    let offered = isHeadComplete ? input.count : min(input.count, headBytesMax - consumedCount)
    if !isLineComplete { readLine(input.prefix(offered)) }
    var consumed = offered
    // The bytes are lent to llhttp for this call.
    let result = unsafe input.withUnsafeBytes { bytes in
      guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
        return HPE_OK
      }
      let result = unsafe llhttp_execute(raw, start, offered)
      if result != HPE_OK { unsafe consumed = llhttp_get_error_pos(raw) - start }
      return result
    }
    refusal = refusal(for: result, at: consumed < input.count ? input[consumed] : 0)
    input.removeFirst(consumed)
    consumedCount += consumed
  }

  /// Keeps the first line; empty ones may stand before it.
  private func readLine(_ bytes: ArraySlice<UInt8>) {
    let isEnd = { (byte: UInt8) in byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
    let rest = line.isEmpty ? bytes.drop(while: isEnd) : bytes
    let end = rest.firstIndex(where: isEnd)
    line += rest[..<(end ?? rest.endIndex)]
    isLineComplete = end != nil
  }

  fileprivate func endName() -> CInt {
    name = name.lowerBound..<text.count
    // A name is ASCII, as llhttp reads it.
    for place in name where (0x41...0x5a).contains(text[place]) { text[place] |= 0x20 }
    return 0
  }

  fileprivate func endField() -> CInt {
    if isHeadComplete {
      text.removeSubrange(name.lowerBound...)
    } else {
      fields.append((name, name.upperBound..<text.count))
    }
    name = text.count..<text.count
    return 0
  }

  fileprivate func endHead() -> CInt {
    isHeadComplete = true
    return 0
  }

  /// Stops before the next request.
  fileprivate func endMessage() -> CInt {
    isComplete = true
    return CInt(HPE_PAUSED.rawValue)
  }

  private func refusal(for result: llhttp_errno_t, at byte: UInt8) -> HTTPRefusal? {
    switch result {
    case HPE_OK, HPE_PAUSED: nil
    case HPE_PAUSED_H2_UPGRADE, HPE_INVALID_VERSION: .version
    // The first byte is uppercase, so this may be a method that llhttp does not know.
    case HPE_INVALID_METHOD where (0x41...0x5a).contains(byte): .method
    // A constant of llhttp's.
    default: unsafe .malformed(String(cString: llhttp_get_error_reason(raw)))
    }
  }

  /// Throws if the bytes read so far can't be part of a valid request.
  func check() throws(HTTPRefusal) {
    // The rest of the current body or chunk counts before it has arrived.
    let left = unsafe Int(clamping: raw.pointee.content_length)
    // The framing of chunks and the trailer are bounded too.
    guard body.count <= bodyBytesMax, left <= bodyBytesMax - body.count,
      consumedCount <= headBytesMax + 2 * bodyBytesMax + 8_192
    else { throw .bodyTooLong(bytesMax: bodyBytesMax) }
    if let refusal { throw refusal }
    if isHeadComplete, version >= (1, 0), !isHTTP {
      throw .malformed("its protocol is not HTTP")
    }
    guard isHeadComplete || consumedCount < headBytesMax else {
      throw .headTooLong(bytesMax: headBytesMax)
    }
  }
}

/// The parser that a callback is about, which waits in `consume`, on the loop's thread.
private func owner(_ raw: UnsafeMutablePointer<llhttp_t>?) -> HTTPParser {
  guard let data = unsafe raw?.pointee.data else { preconditionFailure("a parser has its owner") }
  return unsafe Unmanaged<HTTPParser>.fromOpaque(data).takeUnretainedValue()
}

/// Copies bytes that llhttp lends for the time of the callback.
private func collect(
  _ part: inout [UInt8], _ start: UnsafePointer<CChar>?, _ count: Int
) -> CInt {
  unsafe part.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
  return 0
}
