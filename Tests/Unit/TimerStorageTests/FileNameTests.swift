import Foundation
import Testing

@testable import TimerStorage

@Suite struct `A file name` {
  static let keys = [
    "default", "tea", "a_b", "a/b", "..", ".", "%2F", "'", "?#", "🍵", "caf\u{E9}", "cafe\u{301}",
    String(repeating: "/", count: 128), String(repeating: "🍵", count: 32), "~x", "~", ".hidden",
    "\u{202E}gro", "\u{FEFF}", " ", "a b", "tea.json", ".new", "a.", "%", "%41", "A", "a",
    "con", "", "nul\\", "\"", "a\u{A0}b", "日本", String(repeating: "x", count: 128),
    String(repeating: "%", count: 128), ".server", ".timersync", "*x*", "\u{E000}",
  ]

  @Test(arguments: keys)
  func `tells its key back exactly`(_ key: String) throws {
    let fileName = try #require(FileName(key: key))

    #expect(fileName.key?.utf8.elementsEqual(key.utf8) == true)
  }

  @Test(arguments: keys)
  func `has room beside a temporary file's marks`(_ key: String) throws {
    let fileName = try #require(FileName(key: key))

    #expect((".\(fileName.text).new").utf8.count <= 255)
  }

  @Test(arguments: keys)
  func `is one visible segment`(_ key: String) throws {
    let fileName = try #require(FileName(key: key))

    #expect(!fileName.text.contains("/"))
    #expect(!fileName.text.contains("\0"))
    #expect(!fileName.text.hasPrefix("."))
    #expect(fileName.text.hasSuffix(".json"))
    #expect(!fileName.text.unicodeScalars.contains { $0.properties.generalCategory == .format })
  }

  @Test func `is another for each key`() {
    let names = Set(Self.keys.compactMap { FileName(key: $0) })

    #expect(names.count == Self.keys.count)
    #expect(Set(names.map { Array($0.text.utf8) }).count == Self.keys.count)
  }

  @Test(arguments: [
    ("tea", "tea.json"), ("a_b", "a_b.json"), ("a/b", "a%2Fb.json"), ("..", "%2E..json"),
    ("%2F", "%252F.json"), ("🍵", "🍵.json"), ("~x", "%7Ex.json"), (".hidden", "%2Ehidden.json"),
  ])
  func `stays readable`(_ key: String, _ fileName: String) {
    #expect(FileName(key: key)?.text == fileName)
  }

  @Test func `has none for a key that is too long`() {
    #expect(FileName(key: String(repeating: "x", count: FileName.keyBytesMax)) != nil)
    #expect(FileName(key: String(repeating: "x", count: FileName.keyBytesMax + 1)) == nil)
  }

  @Test(arguments: [
    "", "tea", ".json", "tea.JSON", "tea.json.new", ".tea.json.new", "%61.json", "a%2fb.json",
    "%.json", "%2.json", "%G1.json", "%+1.json", "%FF.json", "~dGVh.json", "~!!.json",
    "a b.json", "..json", ".tea.json", "a/b.json", "%00%0.json", "~dGVh=.json",
  ])
  func `of no key is refused`(_ fileName: String) {
    #expect(FileName(fileName).key == nil)
  }
}
