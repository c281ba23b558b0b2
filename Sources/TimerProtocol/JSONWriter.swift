import TimerCore

/// Writes JSON, member by member, into bytes that are ready for a frame.
///
/// Written by hand because the wire wants microseconds without an exponent, which Foundation's encoder
/// doesn't give, and because it is the one cost of each tick that is ours.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  // MARK: Structure

  mutating func object(_ members: (inout JSONWriter) -> Void) {
    nested(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
  }

  mutating func array<Element>(
    _ name: StaticString, _ elements: some Sequence<Element>,
    _ write: (inout JSONWriter, Element) -> Void
  ) {
    key(name)
    nested(UInt8(ascii: "["), UInt8(ascii: "]")) { writer in
      for element in elements { write(&writer, element) }
    }
  }

  mutating func member(_ name: StaticString, object members: (inout JSONWriter) -> Void) {
    key(name)
    object(members)
  }

  private mutating func nested(_ open: UInt8, _ close: UInt8, _ inside: (inout JSONWriter) -> Void)
  {
    comma()
    bytes.append(open)
    needsComma = false
    inside(&self)
    bytes.append(close)
    needsComma = true
  }

  // MARK: Members

  mutating func member(_ name: StaticString, _ text: String) {
    key(name)
    value(text)
  }

  mutating func member(_ name: StaticString, _ number: Int) {
    key(name)
    raw("\(number)")
  }

  mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    raw(flag ? "true" : "false")
  }

  mutating func member(_ name: StaticString, _ length: Seconds) {
    key(name)
    value(length)
  }

  mutating func member(_ name: StaticString, _ instant: Instant?) {
    key(name)
    if let instant { value(instant.sinceEpoch) } else { raw("null") }
  }

  mutating func member(_ name: StaticString, verbatim token: [UInt8]) {
    key(name)
    raw(token)
  }

  // MARK: Values

  mutating func value(_ length: Seconds) {
    comma()
    appendSeconds(length.microseconds)
    needsComma = true
  }

  mutating func value(_ text: String) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 { appendEscaped(byte) }
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  private mutating func raw(_ text: String) {
    comma()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func raw(_ token: [UInt8]) {
    comma()
    bytes.append(contentsOf: token)
    needsComma = true
  }

  // MARK: Bytes

  private mutating func key(_ name: StaticString) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: "\(name)".utf8)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  /// Whole seconds, then the microseconds that there are: `90.5`, `1764480000.000001`, `-3`.
  private mutating func appendSeconds(_ microseconds: Int64) {
    if microseconds < 0 { bytes.append(UInt8(ascii: "-")) }
    let magnitude = microseconds.magnitude
    bytes.append(contentsOf: String(magnitude / 1_000_000).utf8)
    var fraction = magnitude % 1_000_000
    guard fraction > 0 else { return }
    bytes.append(UInt8(ascii: "."))
    var unit: UInt64 = 100_000
    while fraction > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(fraction / unit))
      fraction %= unit
      unit /= 10
    }
  }

  private mutating func appendEscaped(_ byte: UInt8) {
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
