/// Reads one JSON text strictly by RFC 8259.
///
/// Foundation's decoder keeps the first of two equal names, takes trailing commas and loses a number's spelling; on the
/// wire each of these would accept a malformed request without an error.
struct JSONReader {
  private let text: [UInt8]
  private var position = 0

  /// Deeper nesting than this is refused; no message of the protocol has more than two.
  private static let depthMax = 16
  /// More members in one object are refused: none of the protocol's has more than a dozen, and the search for duplicate
  /// names costs the square of the count.
  private static let membersMax = 64

  /// Why a text is no JSON, in words, with the place.
  struct Failure: Error, Equatable {
    let reason: String
  }

  /// The value that `text` holds, alone but for white space around it.
  static func read(_ text: [UInt8]) throws(Failure) -> JSONValue {
    var reader = JSONReader(text: text)
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.next == nil else { throw reader.failure("one JSON object and nothing after it") }
    return value
  }

  private init(text: [UInt8]) {
    self.text = text
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    guard depth <= Self.depthMax else {
      throw Failure(reason: "nested deeper than \(Self.depthMax) levels")
    }
    skipSpace()
    guard let next else { throw failure("a JSON value") }
    switch next {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", means: .bool(true))
    case UInt8(ascii: "f"): return try word("false", means: .bool(false))
    case UInt8(ascii: "n"): return try word("null", means: .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default: throw failure("a JSON value")
    }
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONObject {
    position += 1
    var object = JSONObject()
    if consume(UInt8(ascii: "}")) { return object }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw failure("a member's name in double quotes") }
      let name = try string()
      guard consume(UInt8(ascii: ":")) else { throw failure("a colon after \(quoted(name))") }
      let member = try value(depth: depth + 1)
      guard object.members.count < Self.membersMax else {
        throw Failure(reason: "an object with more than \(Self.membersMax) members")
      }
      guard object.add(name, member) else {
        throw Failure(reason: "\(quoted(name)) appears twice; give each field once")
      }
    } while consume(UInt8(ascii: ","))
    guard consume(UInt8(ascii: "}")) else { throw failure("a comma or a closing brace") }
    return object
  }

  private mutating func array(depth: Int) throws(Failure) -> [JSONValue] {
    position += 1
    var elements: [JSONValue] = []
    if consume(UInt8(ascii: "]")) { return elements }
    repeat { elements.append(try value(depth: depth + 1)) } while consume(UInt8(ascii: ","))
    guard consume(UInt8(ascii: "]")) else { throw failure("a comma or a closing bracket") }
    return elements
  }

  private mutating func word(_ word: StaticString, means value: JSONValue) throws(Failure)
    -> JSONValue
  {
    for scalar in "\(word)".utf8 {
      guard next == scalar else { throw failure("true, false or null") }
      position += 1
    }
    return value
  }

  // MARK: Numbers

  private mutating func number() throws(Failure) -> JSONNumber {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    let firstDigit = next
    let whole = skipDigits()
    guard whole > 0, whole == 1 || firstDigit != UInt8(ascii: "0") else {
      throw failure("a number as JSON spells it")
    }
    if next == UInt8(ascii: ".") {
      position += 1
      guard skipDigits() > 0 else { throw failure("a digit after the point") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard skipDigits() > 0 else { throw failure("a digit in the exponent") }
    }
    let spelling = String(decoding: text[start..<position], as: UTF8.self)
    return JSONNumber(spelling: spelling, value: Double(spelling) ?? .infinity)
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    return position - start
  }

  // MARK: Strings

  private mutating func string() throws(Failure) -> String {
    position += 1
    let start = position
    // Most strings hold no escape, and are taken as they stand.
    while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
      position += 1
    }
    if next == UInt8(ascii: "\"") {
      defer { position += 1 }
      return try text(of: text[start..<position])
    }
    var bytes = Array(text[start..<position])
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        return try text(of: bytes[...])
      case UInt8(ascii: "\\"): bytes.append(contentsOf: String(try escape()).utf8)
      case 0..<0x20:
        throw Failure(reason: "a raw control character in a string; write it as \\u00XX")
      default: bytes.append(byte)
      }
    }
    throw failure("a closing double quote")
  }

  private func text(of bytes: ArraySlice<UInt8>) throws(Failure) -> String {
    guard let string = String(validating: bytes, as: UTF8.self) else {
      throw Failure(reason: "a string that is not UTF-8")
    }
    return string
  }

  private mutating func escape() throws(Failure) -> Character {
    guard let letter = next else { throw failure("the rest of an escape") }
    position += 1
    switch letter {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return Character(try escapedScalar())
    default: throw failure("one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
    }
  }

  /// RFC 8259 §7: beyond the basic plane two escapes in a row make one scalar; half a pair is none.
  private mutating func escapedScalar() throws(Failure) -> Unicode.Scalar {
    let first = try hexUnit()
    if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
    guard UTF16.isLeadSurrogate(first), next == UInt8(ascii: "\\") else { throw loneSurrogate }
    position += 1
    guard next == UInt8(ascii: "u") else { throw loneSurrogate }
    position += 1
    let second = try hexUnit()
    guard UTF16.isTrailSurrogate(second) else { throw loneSurrogate }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private mutating func hexUnit() throws(Failure) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw failure("four hexadecimal digits after \\u")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }

  private var loneSurrogate: Failure {
    Failure(reason: "half a surrogate pair in a string; a character is one \\u or a pair of them")
  }

  // MARK: Bytes

  private var next: UInt8? {
    position < text.count ? text[position] : nil
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  /// Steps over `byte` and the space before it, if it comes next.
  private mutating func consume(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    position += 1
    return true
  }

  private func failure(_ wanted: String) -> Failure {
    Failure(reason: "byte \(position): expected \(wanted)")
  }
}

/// A text in double quotes and cut to what a sentence can bear, for an error's words.
func quoted(_ text: String) -> String {
  text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
}
