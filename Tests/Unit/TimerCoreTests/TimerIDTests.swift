import Testing
import TimerCore

@Suite struct `A timer's name` {
  @Test(arguments: [
    "default", "a", "a_b", "a/b", "..", ".", "%2F", "'", "?#", "\"", "\\", " ", "**", "🍵", "é",
    "e\u{301}", "日本", "\u{202E}gro", "\u{FEFF}", String(repeating: "x", count: 128),
    String(repeating: "🍵", count: 32),
  ])
  func `may be up to 128 bytes of nearly anything`(_ name: String) {
    #expect(TimerID(name)?.name.utf8.elementsEqual(name.utf8) == true)
  }

  @Test(arguments: [
    "", "*", "\0", "a\0b", "\n", "tab\t", "\u{7F}", "\u{85}", "\u{9F}", "a\u{2028}b", "\u{2029}",
    "a\r\nb", String(repeating: "x", count: 129), String(repeating: "🍵", count: 33),
    String(repeating: "é", count: 65),
  ])
  func `is refused when empty, too long, a star or with control characters`(_ name: String) {
    #expect(TimerID(name) == nil)
  }

  @Test func `is another in the other spelling of é`() throws {
    let composed = try #require(TimerID("caf\u{E9}"))
    let decomposed = try #require(TimerID("cafe\u{301}"))

    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test func `is the same with the same bytes`() {
    #expect(TimerID("tea") == TimerID("tea"))
    #expect(Set([TimerID("tea"), TimerID("tea")]).count == 1)
  }

  @Test func `tells upper from lower case`() {
    #expect(TimerID("Tea") != TimerID("tea"))
  }

  @Test func `is sorted by its bytes`() {
    let names = ["🍵", "b", "é", "B", "e\u{301}", "a/b", "a"]

    let sorted = names.compactMap(TimerID.init).sorted().map(\.name)

    #expect(
      sorted.map { Array($0.utf8) }
        == ["B", "a", "a/b", "b", "e\u{301}", "é", "🍵"].map { Array($0.utf8) })
  }

  @Test func `is default when none is given`() {
    #expect(TimerID.standard.name == "default")
    #expect(TimerID.standard == TimerID("default"))
  }
}
