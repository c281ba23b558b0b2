import Testing

@testable import TimerServer

@Suite final class `Repeated lines about peers` {
  private var folding = LogFolding()
  private let second: UInt64 = 1_000_000_000

  private func admits(_ line: LogLine, at now: UInt64) -> Bool { folding.admit(line, at: now) }
  private func due(at now: UInt64) -> [String] { folding.flushDue(at: now).map(\.text) }
  private func all() -> [String] { folding.flushAll().map(\.text) }

  private func line(_ level: LogLevel, _ text: String) -> LogLine {
    LogLine(level: level, text: text, isAboutPeers: true)
  }

  private func wrongToken(_ address: String) -> LogLine {
    line(.info, "a token that is not known was presented from \(address)")
  }

  @Test func `are written once a minute, with their count`() {
    #expect(admits(wrongToken("10.0.0.1"), at: 0))
    for number in 2...200 {
      #expect(!admits(wrongToken("10.0.0.\(number)"), at: second))
    }

    #expect(due(at: 59 * second) == [])
    #expect(
      due(at: 60 * second) == [
        "a token that is not known was presented from 10.0.0.200 (199 more like it in the last minute)"
      ])
    #expect(!admits(wrongToken("10.0.0.1"), at: 61 * second))
    #expect(due(at: 120 * second).count == 1)
  }

  @Test func `are all written at the level debug`() {
    for number in 1...3 {
      #expect(admits(line(.debug, "a frame of connection \(number)"), at: second))
    }
    #expect(all() == [])
  }

  @Test func `are new when a minute has passed without one`() {
    #expect(admits(wrongToken("::1"), at: 0))
    #expect(due(at: 60 * second) == [])
    #expect(folding.nextEnd == nil)
    #expect(admits(wrongToken("::1"), at: 61 * second))
  }

  @Test func `are written at the end, in the order of their kinds`() {
    for _ in 1...3 {
      _ = admits(line(.error, "b"), at: 0)
      _ = admits(line(.info, "a"), at: 1)
    }

    #expect(
      all() == [
        "b (2 more like it in the last minute)", "a (2 more like it in the last minute)",
      ])
    #expect(all() == [])
    #expect(admits(line(.error, "b"), at: 2))
  }

  @Test func `are another kind on another level`() {
    #expect(admits(line(.error, "a"), at: 0))
    #expect(admits(line(.info, "a"), at: 0))
  }

  @Test(arguments: [
    ("from 127.0.0.1", "from 10.1.2.3:80"), ("from 2001:db8::1", "from ::1"),
    ("from fe80::a", "from [::1]:80"), ("from 10.0.0.1", "from 2001:db8:1:2::"),
    ("connection 7 is closed: token a", "connection 12345 is closed: token a"),
    ("libwebsockets: wsi 0x55d: 3", "libwebsockets: wsi 0x77f: 99"),
  ])
  func `may differ in the parts that identify peers`(_ one: String, _ other: String) {
    #expect(LogFolding.template(one) == LogFolding.template(other))
  }

  @Test(arguments: [
    ("1 tokens are known now", "2 tokens are known now"),
    ("1.json was edited", "2.json was edited"),
    ("the file of timer 1 was edited", "the file of timer 2 was edited"),
    ("connection 7 is closed: token a", "connection 7 is closed: token b"),
    ("token 12:30:00 was removed", "token 12:45:00 was removed"), ("from ab:cd:ef", "from 1:2:3"),
    ("version 1.2.3.4.5", "version 1.2.3.4.6"),
  ])
  func `may not differ in what an owner did`(_ one: String, _ other: String) {
    #expect(LogFolding.template(one) != LogFolding.template(other))
  }

  @Test func `are bounded, however many kinds there are`() {
    var written = 0
    for number in 0..<(5 * LogFolding.kindsMax) {
      if admits(line(.info, "\(number)"), at: 0) { written += 1 }
    }

    #expect(written == LogFolding.kindsMax + 1)
    #expect(admits(line(.error, "a peer"), at: 0))
    #expect(
      due(at: 60 * second) == [
        "\(5 * LogFolding.kindsMax - 1) "
          + "(\(4 * LogFolding.kindsMax - 1) more lines in the last minute)"
      ])
  }
}

@Suite final class `Lines about the server itself` {
  private var folding = LogFolding()

  private func admits(_ level: LogLevel, _ text: String, at now: UInt64 = 0) -> Bool {
    folding.admit(LogLine(level: level, text: text), at: now)
  }

  @Test(arguments: [
    ["changes can't be stored", "changes are stored again"],
    ["tea.json can't be loaded", "tea was loaded"],
    ["2 tokens are known now", "1 tokens are known now"],
  ])
  func `are each written, so that the last word is true`(_ texts: [String]) {
    for time in 0..<6 as Range<UInt64> {
      for text in texts { #expect(admits(.error, text, at: time)) }
    }
    #expect(folding.flushAll() == [])
  }

  @Test func `find room, however much there is of others`() {
    for number in 0..<(2 * LogFolding.kindsMax) {
      _ = folding.admit(LogLine(level: .error, text: "\(number)", isAboutPeers: true), at: 0)
      #expect(admits(.error, "\(number).json was not loaded"))
    }

    #expect(admits(.error, "changes can't be stored"))
  }
}
