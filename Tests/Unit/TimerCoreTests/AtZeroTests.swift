import Testing
import TimerCore

@Suite struct `What a countdown does at zero` {
  @Test(arguments: AtZero.allCases)
  func `decides whether its time gets negative`(_ atZero: AtZero) throws {
    var bench = TimerBench()
    let start = TimerStart(duration: 5, settings: TimerUpdate(atZero: atZero))
    try bench.apply(.start(start))

    bench.advance(7)

    #expect((try #require(bench.time) < .zero) == atZero.countsBelowZero)
  }

  @Test(arguments: AtZero.allCases)
  func `decides whether another zero is to come`(_ atZero: AtZero) throws {
    var bench = TimerBench()
    let start = TimerStart(duration: 5, settings: TimerUpdate(atZero: atZero))
    try bench.apply(.start(start))
    bench.advance(7)

    bench.crossZero()

    #expect((bench.timer?.zeroInstant != nil) == atZero.restarts)
  }

  @Test(arguments: AtZero.allCases)
  func `decides whether it may be short`(_ atZero: AtZero) {
    let settings = TimerSettings(type: .countdown(0.099999), atZero: atZero)

    #expect(settings.restartsTooSoon == atZero.restarts)
    #expect(!TimerSettings(type: .countdown(0.1), atZero: atZero).restartsTooSoon)
    #expect(!TimerSettings(type: .stopwatch, atZero: atZero).restartsTooSoon)
  }
}
