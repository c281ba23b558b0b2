/// Percent-decoded text; nil when it is malformed or not UTF-8.
func percentDecoded(_ text: some Collection<UInt8>) -> String? {
  guard text.contains(UInt8(ascii: "%")) else { return validUTF8(text) }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.count)
  var rest = text[...]
  while let byte = rest.popFirst() {
    guard byte == UInt8(ascii: "%") else {
      bytes.append(byte)
      continue
    }
    guard let high = rest.popFirst().flatMap(hexadecimalValue),
      let low = rest.popFirst().flatMap(hexadecimalValue)
    else { return nil }
    bytes.append(high << 4 | low)
  }
  return validUTF8(bytes)
}

func validUTF8(_ bytes: some Collection<UInt8>) -> String? {
  String(validating: bytes, as: UTF8.self)
}

func hexadecimalValue(_ digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
  default: nil
  }
}
