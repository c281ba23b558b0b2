import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `A query string` {
  private func items(_ text: String) -> [QueryItem]? { QueryString.decode(Array(text.utf8)) }

  private func pairs(_ text: String) -> [[String]]? {
    items(text)?.map { [$0.name, $0.value] }
  }

  @Test func `is nothing when it is empty`() {
    #expect(items("") == [])
  }

  // WHATWG URL §5.1: split at `&`, then at the first `=`.
  @Test(arguments: [
    ("a=b", [["a", "b"]]), ("a=1&b=2", [["a", "1"], ["b", "2"]]),
    ("timer=a&timer=b", [["timer", "a"], ["timer", "b"]]), ("a", [["a", ""]]), ("a=", [["a", ""]]),
    ("=b", [["", "b"]]), ("=", [["", ""]]), ("a=b=c", [["a", "b=c"]]), ("a==", [["a", "="]]),
    ("a;b", [["a;b", ""]]), ("a?b=/c", [["a?b", "/c"]]), ("b=2&a=1", [["b", "2"], ["a", "1"]]),
  ])
  func `is pairs in their order`(text: String, expected: [[String]]) {
    #expect(pairs(text) == expected)
  }

  @Test(arguments: [
    ("&", []), ("&&&", []), ("&a=b", [["a", "b"]]), ("a=b&", [["a", "b"]]),
    ("a=b&&c=d", [["a", "b"], ["c", "d"]]), ("&=&", [["", ""]]),
  ])
  func `has no pair in an empty piece`(text: String, expected: [[String]]) {
    #expect(pairs(text) == expected)
  }

  @Test(arguments: [
    ("a+b=c+d", [["a b", "c d"]]), ("+=+", [[" ", " "]]), ("a=%2B", [["a", "+"]]),
    ("a=%2b+", [["a", "+ "]]), ("a=b%20c", [["a", "b c"]]), ("a++b", [["a  b", ""]]),
  ])
  func `has a blank for a plus`(text: String, expected: [[String]]) {
    #expect(pairs(text) == expected)
  }

  @Test(arguments: [
    ("%61=%62", [["a", "b"]]), ("a=%26%3D%25", [["a", "&=%"]]), ("a%3Db=c", [["a=b", "c"]]),
    ("a=%C3%A9%e2%82%ac", [["a", "é€"]]), ("%F0%9F%98%80", [["😀", ""]]),
    ("a=%00", [["a", "\u{0}"]]),
    ("a=é", [["a", "é"]]), ("a=%2541", [["a", "%41"]]), ("%26=%26", [["&", "&"]]),
  ])
  func `is decoded after it is split`(text: String, expected: [[String]]) {
    #expect(pairs(text) == expected)
  }

  // WHATWG URL §1.3: a percent sign that begins no escape is itself.
  @Test(arguments: [
    ("%", [["%", ""]]), ("a=%", [["a", "%"]]), ("a=%4", [["a", "%4"]]), ("a=%zz", [["a", "%zz"]]),
    ("a=%4z", [["a", "%4z"]]), ("a=%z4", [["a", "%z4"]]), ("a=%%41", [["a", "%A"]]),
    ("a=%%34%31", [["a", "%41"]]), ("a=100%&b=%41", [["a", "100%"], ["b", "A"]]),
    ("a%=b%", [["a%", "b%"]]), ("a=%+1", [["a", "% 1"]]),
    ("a=%4&1=b", [["a", "%4"], ["1", "b"]]),
  ])
  func `keeps a percent sign that begins no escape`(text: String, expected: [[String]]) {
    #expect(pairs(text) == expected)
  }

  @Test(arguments: [
    "%ff", "a=%80", "a=%C3", "a=%C3&b=%A9", "%E2%82=x", "a=b&c=%C0%AF", "a=%ED%A0%80",
    "a=%F4%90%80%80", "a=%C3+%A9", "a=%C3=%A9",
  ])
  func `is none when something in it is no UTF-8`(_ text: String) {
    #expect(items(text) == nil)
  }

  @Test func `is none when raw bytes in it are no UTF-8`() {
    for bytes: [UInt8] in [[0xff], [0x61, 0x3d, 0xc3], [0x61, 0x3d, 0x62, 0x26, 0x80]] {
      #expect(QueryString.decode(bytes) == nil)
    }
  }

  @Test func `may be long`() {
    let text = Array(repeating: "timer=a%20b", count: 5_000).joined(separator: "&")

    #expect(items(text) == Array(repeating: QueryItem("timer", "a b"), count: 5_000))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `gives back what a form would send`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    let words = ["", "a", "=", "&", "+", "%", "%41", " ", "é", "😀", "\u{0}", ";", "a=b&c", "?"]
    for _ in 0..<100 {
      let pairs = (0..<Int.random(in: 1..<6, using: &random)).map { _ in
        (0..<2).map { _ in
          (0..<Int.random(in: 0..<4, using: &random)).compactMap { _ in
            words.randomElement(using: &random)
          }.joined()
        }
      }
      let text = pairs.map { $0.map(formEncoded).joined(separator: "=") }.joined(separator: "&")

      #expect(self.pairs(text) == pairs)
    }
  }

  /// A word as `application/x-www-form-urlencoded` writes it (WHATWG URL §5.2).
  private func formEncoded(_ word: String) -> String {
    word.utf8.map { byte in
      switch byte {
      case UInt8(ascii: " "): "+"
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: String(UnicodeScalar(byte))
      default: "%" + String(Int(byte) + 256, radix: 16, uppercase: true).dropFirst()
      }
    }.joined()
  }
}
