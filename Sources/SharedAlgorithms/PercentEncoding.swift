/// Percent-encoding (RFC 3986 §2.1): `%` and two hexadecimal digits stand for a byte.
public enum PercentEncoding {
  /// A `%` that begins no escape.
  public enum StrayPercent {
    /// The text is malformed.
    case refused
    /// The `%` stands for itself, as in a form's data (WHATWG URL §1.3).
    case kept
  }

  /// The decoded text; nil when it is malformed or not UTF-8.
  @inlinable public static func decoded(
    _ text: some Collection<UInt8>, strayPercent: StrayPercent = .refused
  ) -> String? {
    guard text.contains(UInt8(ascii: "%")) else { return String(validating: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else if let escaped = escapedByte(rest.prefix(2)) {
        bytes.append(escaped)
        rest = rest.dropFirst(2)
      } else if strayPercent == .kept {
        bytes.append(byte)
      } else {
        return nil
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The byte that two hexadecimal digits stand for.
  @inlinable static func escapedByte(_ digits: some Collection<UInt8>) -> UInt8? {
    var digits = digits.makeIterator()
    guard let first = digits.next(), let high = hexadecimalValue(first),
      let second = digits.next(), let low = hexadecimalValue(second)
    else { return nil }
    return high << 4 | low
  }

  /// The escape of a byte, with uppercase digits.
  public static func escape(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return (digits.count == 1 ? "%0" : "%") + digits
  }

  /// The value of a hexadecimal digit in ASCII.
  @inlinable public static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
