import Testing
import TimerCore

private func text(_ words: String) -> SpeakerText {
  guard let text = SpeakerText(words) else { preconditionFailure("\(words) is no message") }
  return text
}

@Suite struct `The message and signal for the speaker` {
  @Test(arguments: TimerBench.Past.allCases.filter { $0 != .unknown })
  func `is set in any status, with its instant`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)
    bench.advance(3)
    let before = bench.reading

    try bench.apply(.message(text("Wrap up")), at: bench.now - 0.5)
    try bench.apply(.signal(.blackout))

    #expect(
      bench.timer?.settings.message == SpeakerMessage(text("Wrap up"), sentAt: bench.now - 0.5))
    #expect(bench.timer?.settings.signal == SpeakerSignal(.blackout, sentAt: bench.now))
    #expect(bench.time == before?.time)
    #expect(bench.status == before?.status)
  }

  @Test func `is replaced by what comes next`() throws {
    var bench = TimerBench.make()
    try bench.apply(.message(text("5 minutes")))
    try bench.apply(.signal(.blackout))

    try bench.apply(.message(text("1 minute")))
    try bench.apply(.signal(.flash))

    #expect(bench.timer?.settings.message?.text == text("1 minute"))
    #expect(bench.timer?.settings.signal?.kind == .flash)
  }

  @Test func `is taken away`() throws {
    var bench = TimerBench.make()
    try bench.apply(.message(text("5 minutes")))
    try bench.apply(.signal(.flash))

    try bench.apply(.message(nil))
    try bench.apply(.signal(nil))

    #expect(bench.timer?.settings.message == nil)
    #expect(bench.timer?.settings.signal == nil)
  }

  @Test func `may be taken away when there is none`() throws {
    var bench = TimerBench.make()

    try bench.apply(.message(nil))
    try bench.apply(.signal(nil))

    #expect(bench.timer?.settings.message == nil)
  }

  @Test(arguments: [
    TimerCommand.start(TimerStart(force: true)), .start(TimerStart(kind: .stopwatch, force: true)),
    .update(TimerUpdate(title: "x")), .pause, .reset, .finish(resetTime: true),
  ])
  func `outlasts the run, being about the speaker:`(_ command: TimerCommand) throws {
    var bench = TimerBench.make()
    try bench.apply(.message(text("Wrap up")))
    try bench.apply(.signal(.blackout))

    try bench.apply(command)

    #expect(bench.timer?.settings.message?.text == text("Wrap up"))
    #expect(bench.timer?.settings.signal?.kind == .blackout)
  }

  @Test(arguments: AtZero.allCases)
  func `outlasts the crossing of zero`(_ atZero: AtZero) throws {
    var bench = TimerBench.make(atZero: atZero)
    try bench.apply(.message(text("Wrap up")))
    bench.advance(400)

    bench.crossZero()

    #expect(bench.timer?.settings.message?.text == text("Wrap up"))
  }

  @Test func `is gone with a timer that is removed`() throws {
    var bench = TimerBench.make()
    try bench.apply(.message(text("Wrap up")))
    try bench.apply(.remove)

    try bench.apply(.start(TimerStart()))

    #expect(bench.timer?.settings.message == nil)
  }

  @Test(arguments: [TimerCommand.message(nil), .message(text("x")), .signal(.flash), .signal(nil)])
  func `needs a timer`(_ command: TimerCommand) {
    var bench = TimerBench.make(.unknown)

    #expect(throws: TimerRefusal.unknownTimer) { try bench.apply(command) }
  }

  @Test(arguments: [TimerBench.Past.idle, .running, .finished])
  func `was sent at the same moment on another clock`(_ past: TimerBench.Past) throws {
    var bench = TimerBench.make(past)
    try bench.apply(.message(text("x")))
    try bench.apply(.signal(.flash))

    let shifted = try #require(bench.timer).shifted(by: -90)

    #expect(shifted.settings.message?.sentAt == bench.now - 90)
    #expect(shifted.settings.signal?.sentAt == bench.now - 90)
  }

  @Test func `costs a countdown that stands at zero no second end`() throws {
    var bench = TimerBench.make(.paused)
    try bench.apply(.addRemainingTime(-290, clamp: false))
    bench.crossZero()
    bench.advance(5)

    try bench.apply(.message(text("x")))

    #expect(bench.crossZero() == nil)
  }
}

@Suite struct `A message's text` {
  @Test(arguments: [
    "x", "two\nlines", "\n", " ", "🍝 è 日本語", String(repeating: "x", count: 500),
    String(repeating: "🍵", count: 125),
  ])
  func `may be`(_ words: String) {
    #expect(SpeakerText(words)?.text == words)
  }

  @Test(arguments: [
    "", String(repeating: "x", count: 501), String(repeating: "🍵", count: 125) + "x", "a\tb", "a\0",
    "a\r\nb", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}", "\u{1B}[31m",
  ])
  func `may not be`(_ words: String) {
    #expect(SpeakerText(words) == nil)
  }
}
