public import TimerCore

/// Writes JSON, member by member, into bytes that are ready for a frame or a file.
///
/// Written by hand because times want their microseconds without an exponent, which Foundation's encoder
/// doesn't give, and because it is the one cost of each tick and of each change that is ours.
public struct JSONWriter {
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false
  private var depth = 0
  /// Objects and arrays that lie less deep than this have a line for each of their members.
  private let lineDepth: Int

  /// All on one line, or in lines for people down to a depth.
  public init(capacity: Int, lineDepth: Int = 0) {
    self.lineDepth = lineDepth
    bytes.reserveCapacity(capacity)
  }

  /// The bytes, in no more memory than they take: a long text may wait for a slow reader, and an array that has grown
  /// to it holds up to twice as much.
  public var compactBytes: [UInt8] {
    bytes.capacity - bytes.count > max(1_024, bytes.count / 8) ? Array(bytes[...]) : bytes
  }

  // MARK: Structure

  public mutating func object(_ members: (inout JSONWriter) -> Void) {
    separate()
    nested(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
  }

  // Inlinable: a generic function of another module would look up its types at run time, for each message.
  @inlinable
  public mutating func array<Element>(
    _ name: String, _ elements: some Sequence<Element>,
    _ write: (inout JSONWriter, Element) -> Void
  ) {
    key(name)
    nested(UInt8(ascii: "["), UInt8(ascii: "]")) { writer in
      for element in elements { write(&writer, element) }
    }
  }

  public mutating func member(_ name: String, object members: (inout JSONWriter) -> Void) {
    key(name)
    nested(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
  }

  @usableFromInline
  mutating func nested(_ open: UInt8, _ close: UInt8, _ inside: (inout JSONWriter) -> Void) {
    bytes.append(open)
    depth += 1
    needsComma = false
    inside(&self)
    depth -= 1
    // `needsComma`: there is something inside, so the end has a line of its own.
    if needsComma, depth < lineDepth { newLine() }
    bytes.append(close)
    needsComma = true
  }

  // MARK: Members

  public mutating func member(_ name: String, _ text: String) {
    key(name)
    append(quoting: text)
  }

  public mutating func member(_ name: String, _ number: Int) {
    key(name)
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    append(number.magnitude)
  }

  /// null where there is none.
  public mutating func member(_ name: String, _ number: Int?) {
    guard let number else { return member(name, verbatim: Array("null".utf8)) }
    member(name, number)
  }

  public mutating func member(_ name: String, _ number: UInt64) {
    key(name)
    append(UInt(number))
  }

  public mutating func member(_ name: String, _ flag: Bool) {
    key(name)
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  public mutating func member(_ name: String, _ length: Seconds) {
    key(name)
    append(length)
  }

  public mutating func member(_ name: String, _ instant: Instant?) {
    key(name)
    if let instant {
      append(instant.sinceEpoch)
    } else {
      bytes.append(contentsOf: "null".utf8)
    }
  }

  public mutating func member(_ name: String, verbatim token: [UInt8]) {
    key(name)
    bytes.append(contentsOf: token)
  }

  // MARK: Elements

  public mutating func value(_ length: Seconds) {
    separate()
    append(length)
    needsComma = true
  }

  public mutating func value(_ text: String) {
    separate()
    append(quoting: text)
    needsComma = true
  }

  public mutating func element(verbatim token: [UInt8]) {
    separate()
    bytes.append(contentsOf: token)
    needsComma = true
  }

  // MARK: Bytes

  /// Names are ours and need no escaping.
  @usableFromInline
  mutating func key(_ name: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    if lineDepth > 0 { bytes.append(UInt8(ascii: " ")) }
    needsComma = true
  }

  /// Writes the comma between this member and the one before.
  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    guard lineDepth > 0, depth > 0 else { return }
    if depth <= lineDepth { newLine() } else if needsComma { bytes.append(UInt8(ascii: " ")) }
  }

  private mutating func newLine() {
    bytes.append(UInt8(ascii: "\n"))
    for _ in 0..<2 * depth { bytes.append(UInt8(ascii: " ")) }
  }

  /// Whole seconds, then the microseconds that there are: `90.5`, `1764480000.000001`, `-3`.
  private mutating func append(_ length: Seconds) {
    if length.microseconds < 0 { bytes.append(UInt8(ascii: "-")) }
    let magnitude = UInt(length.microseconds.magnitude)
    append(magnitude / 1_000_000)
    var fraction = magnitude % 1_000_000
    guard fraction > 0 else { return }
    var places = 6
    while fraction.isMultiple(of: 10) {
      fraction /= 10
      places -= 1
    }
    bytes.append(UInt8(ascii: "."))
    append(fraction, places: places)
  }

  /// In decimal, with zeros in front up to a number of places. Digits come from the right, by a divisor that
  /// the compiler knows: to divide by one that it doesn't was the dearest part of a message.
  private mutating func append(_ number: UInt, places: Int = 1) {
    var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
    var rest = number
    var first = 20
    while rest > 0 {
      first -= 1
      digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    for place in min(first, 20 - places)..<20 { bytes.append(digits[place]) }
  }

  private mutating func append(quoting text: String) {
    bytes.append(UInt8(ascii: "\""))
    if text.utf8.contains(where: Self.needsEscape) {
      for byte in text.utf8 { append(escaping: byte) }
    } else {
      bytes.append(contentsOf: text.utf8)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0..<0x20:
      bytes.append(contentsOf: "\\u00".utf8)
      bytes.append(Self.hexDigits[Int(byte >> 4)])
      bytes.append(Self.hexDigits[Int(byte & 15)])
    default: bytes.append(byte)
    }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)
}
