import Testing

@testable import TimerServer

@Suite struct `A line of the log` {
  @Test(arguments: [
    ("tea", "tea"), ("é 🍵 日本", "é 🍵 日本"), ("a\nb", "a\\u{a}b"), ("\r", "\\u{d}"),
    ("\u{1B}[31m", "\\u{1b}[31m"), ("\0", "\\u{0}"), ("\u{202E}x", "\\u{202e}x"),
    ("\u{2028}", "\\u{2028}"), ("\u{7F}", "\\u{7f}"), ("\u{85}", "\\u{85}"),
    ("\u{FEFF}", "\\u{feff}"), ("\u{E000}", "\\u{e000}"),
  ])
  func `holds nothing that breaks it or turns it around`(_ text: String, _ escaped: String) {
    #expect(Log.escaped(text) == escaped)
  }
}

@Suite struct `The level of the log` {
  @Test(arguments: LogLevel.allCases)
  func `has a name`(_ level: LogLevel) {
    #expect(LogLevel(name: level.name) == level)
  }

  @Test(arguments: ["", "Info", "loud", "0"])
  func `is none of another name`(_ name: String) {
    #expect(LogLevel(name: name) == nil)
  }

  @Test func `grows louder`() {
    #expect(LogLevel.error < .warning)
    #expect(LogLevel.warning < .info)
    #expect(LogLevel.info < .debug)
  }
}
