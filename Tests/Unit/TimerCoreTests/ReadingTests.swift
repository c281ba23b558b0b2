import FoundationEssentials
import Testing
import TimerCore

@Suite struct `A reading of a countdown` {
  @Test(arguments: TimerBench.Past.allCases.filter { $0 != .unknown }, AtZero.allCases)
  func `has time and elapsed time add up to the duration`(
    _ past: TimerBench.Past, _ atZero: AtZero
  ) throws {
    var bench = TimerBench.make(past, .countdown(300.000001), atZero: atZero)
    bench.advance(0.123457)

    let reading = try #require(bench.reading)

    #expect(reading.time + reading.elapsed == reading.timer.type.duration)
  }

  @Test func `shows nothing elapsed before its start`() throws {
    var bench = TimerBench.make()

    bench.now = TimerBench.start - 100

    #expect(bench.elapsed == .zero)
    #expect(bench.time == 300)
  }
}

@Suite struct `A run by itself` {
  private let start = Date(timeIntervalSince1970: 1_764_480_000)

  @Test func `is a running state`() {
    let run = RestoreTimerData(startDate: start, pausePeriods: [], type: .timer(duration: 60))

    let state = run.elapsedTimeAndStatus(now: start + 70)

    #expect(state.status == .running)
    #expect(state.elapsedTime == 70)
    #expect(state.time == -10)
    #expect(state.lastElapsedTimeCalculatedAt == start + 70)
  }

  @Test func `is paused with an open pause, and leaves out those before`() {
    let run = RestoreTimerData(
      startDate: start,
      pausePeriods: [
        PausePeriod(pause: start + 5, start: start + 10),
        PausePeriod(pause: start + 12, start: nil),
      ], type: .stopwatch)

    let state = run.elapsedTimeAndStatus(now: start + 100)

    #expect(state.status == .paused)
    #expect(state.elapsedTime == 7)
    #expect(state.time == 7)
  }

  @Test func `is finished with a stop date`() {
    let run = RestoreTimerData(
      startDate: start, pausePeriods: [], type: .stopwatch, stopDate: start + 3)

    let state = run.elapsedTimeAndStatus(now: start + 100)

    #expect(state.status == .finished)
    #expect(state.elapsedTime == 3)
  }

  @Test func `never has counted less than nothing`() {
    let run = RestoreTimerData(startDate: start, pausePeriods: [], type: .stopwatch)

    #expect(run.elapsedTimeAndStatus(now: start - 5).elapsedTime == 0)
  }

  @Test func `is the same after JSON`() throws {
    let run = RestoreTimerData(
      startDate: start, pausePeriods: [PausePeriod(pause: start + 5, start: nil)],
      type: .timer(duration: 90.5), stopDate: start + 7)

    let bytes = try JSONEncoder().encode(run)

    #expect(try JSONDecoder().decode(RestoreTimerData.self, from: bytes) == run)
  }
}
