import TestSupport
import Testing

@testable import SharedAlgorithms

@Suite struct `Percent decoding` {
  private func decoded(_ text: String) -> String? { PercentEncoding.decoded(Array(text.utf8)) }

  @Test(arguments: ["", "a", "/a/b?c=d&e", "a+b", "é€😀", "\u{0}", "-._~", "A b"])
  func `leaves a text without escapes as it is`(_ text: String) {
    #expect(decoded(text) == text)
  }

  // RFC 3986 §2.1: the digits of both cases are the same.
  @Test(arguments: [
    ("%20", " "), ("%2F", "/"), ("%2f", "/"), ("%41%42", "AB"), ("a%25b", "a%b"), ("%7E", "~"),
    ("%3A%3a", "::"), ("%00", "\u{0}"), ("%7F", "\u{7f}"), ("x%0D%0Ay", "x\r\ny"), ("%2B+", "++"),
  ])
  func `reads an escape as its byte`(text: String, expected: String) {
    #expect(decoded(text) == expected)
  }

  // RFC 3986 §2.5 and RFC 3629.
  @Test(arguments: [
    ("%C3%A9", "é"), ("%c3%a9", "é"), ("%E2%82%AC", "€"), ("%F0%9F%98%80", "😀"),
    ("%E3%82%A2", "ア"), ("%C3%80", "À"), ("%F4%8F%BF%BF", "\u{10ffff}"), ("a%CC%81", "a\u{301}"),
  ])
  func `reads escapes as UTF-8`(text: String, expected: String) {
    #expect(decoded(text)?.unicodeScalars.elementsEqual(expected.unicodeScalars) == true)
  }

  // RFC 3986 §2.4: never decoded twice.
  @Test(arguments: [("%2541", "%41"), ("%252F", "%2F"), ("%25", "%"), ("%25%32%35", "%25")])
  func `reads each escape once`(text: String, expected: String) {
    #expect(decoded(text) == expected)
  }

  @Test(arguments: [
    "%", "%%", "a%", "%4", "a%4", "%zz", "%4z", "%z4", "%-1", "%+1", "% 1", "%1 ", "%0x", "%%41",
    "%41%", "%４１", "%\u{0}1", "%u0041", "%G0", "%0g", "%@0", "%`0", "%/0", "%:0",
  ])
  func `refuses half an escape`(_ text: String) {
    #expect(decoded(text) == nil)
  }

  // RFC 3629 §3 and §10: stray, cut and overlong sequences, surrogates, and beyond U+10FFFF.
  @Test(arguments: [
    "%80", "%BF", "%FF", "%FE", "%C3", "%C3a", "%E2%82", "%F0%9F%98", "%A9%C3", "%C0%80", "%C0%AF",
    "%C1%81", "%E0%80%AF", "%E0%9F%BF", "%F0%80%80%AF", "%ED%A0%80", "%ED%BF%BF", "%F4%90%80%80",
    "%F5%80%80%80", "ok%C3", "%C3%C3%A9",
  ])
  func `refuses what is no UTF-8`(_ text: String) {
    #expect(decoded(text) == nil)
  }

  @Test func `refuses raw bytes that are no UTF-8`() {
    for bytes: [UInt8] in [[0xff], [0xc3], [0x41, 0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80]] {
      #expect(PercentEncoding.decoded(bytes) == nil)
      #expect(PercentEncoding.decoded(bytes + Array("%41".utf8)) == nil)
    }
  }

  @Test func `reads every byte of ASCII, and no other byte alone`() {
    for byte in UInt8.min...UInt8.max {
      let digits = String(byte, radix: 16)
      let escape = "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      let expected = byte < 128 ? String(UnicodeScalar(byte)) : nil

      #expect(decoded(escape) == expected)
      #expect(decoded(escape.uppercased()) == expected)
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `gives back what was encoded`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    for _ in 0..<100 {
      let scalars = (0..<Int.random(in: 0..<20, using: &random)).map { _ in
        UnicodeScalar(UInt32.random(in: 0..<0x11_0000, using: &random)) ?? "%"
      }
      let text = String(String.UnicodeScalarView(scalars))
      let escaped = text.utf8.map { byte in
        byte < 128 && byte != UInt8(ascii: "%") && Bool.random(using: &random)
          ? String(UnicodeScalar(byte)) : "%" + String(Int(byte) + 256, radix: 16).dropFirst()
      }

      #expect(decoded(escaped.joined()).map { Array($0.utf8) } == Array(text.utf8))
    }
  }
}

@Suite struct `A hexadecimal digit` {
  @Test func `is one of 22 characters`() {
    let digits = Array("0123456789abcdef".utf8)
    for byte in UInt8.min...UInt8.max {
      let isLetter = (0x41...0x46).contains(byte)
      let place = digits.firstIndex(of: isLetter ? byte | 0x20 : byte)

      #expect(PercentEncoding.hexadecimalValue(byte) == place.map { UInt8($0) })
    }
  }
}

@Suite struct `A percent that begins no escape` {
  @Test(arguments: ["%", "%4", "%zz", "a%", "100%!", "%+1"])
  func `stands for itself where it is kept`(_ text: String) {
    #expect(PercentEncoding.decoded(text.utf8) == nil)
    #expect(PercentEncoding.decoded(text.utf8, strayPercent: .kept) == text)
  }

  @Test func `does not hide an escape behind it`() {
    #expect(PercentEncoding.decoded("%%41".utf8, strayPercent: .kept) == "%A")
  }
}

@Suite struct `An escape` {
  @Test func `is what it was made from`() {
    for byte in UInt8.min...UInt8.max {
      let escape = PercentEncoding.escape(byte)

      #expect(escape.utf8.count == 3 && escape == escape.uppercased())
      #expect(PercentEncoding.escapedByte(escape.utf8.dropFirst()) == byte)
    }
  }
}
