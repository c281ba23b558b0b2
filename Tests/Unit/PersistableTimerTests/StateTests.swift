import Foundation
import PersistableTimer
import Testing

@Suite struct `The state of a timer` {
  private let start = Date(timeIntervalSince1970: 1_764_480_000)

  private func run(_ type: RestoreType, pausedAt pause: Double? = nil) -> RestoreTimerData {
    RestoreTimerData(
      startDate: start,
      pausePeriods: pause.map { [PausePeriod(pause: start + $0, start: nil)] } ?? [], type: type)
  }

  @Test func `has a display date that goes with its own reading`() async throws {
    let countdown = run(.timer(duration: 100)).elapsedTimeAndStatus(now: start + 30)
    let stopwatch = run(.stopwatch).elapsedTimeAndStatus(now: start + 30)
    let first = (countdown.displayDate, stopwatch.displayDate)

    try await Task.sleep(for: .seconds(1))

    #expect(first == (start + 100, start))
    #expect((countdown.displayDate, stopwatch.displayDate) == first)
  }

  @Test func `keeps its display date where a pause was`() {
    let paused = run(.timer(duration: 100), pausedAt: 40).elapsedTimeAndStatus(now: start + 60)

    #expect(paused.displayDate == start + 120)
  }

  @Test(arguments: [0, 40, 99.5, 100, 150, 10_000] as [Double])
  func `has an interval in which a pause stands where it shows`(_ pause: Double) throws {
    let countdown = run(.timer(duration: 100), pausedAt: pause).elapsedTimeAndStatus(
      now: start + 20_000)
    let stopwatch = run(.stopwatch, pausedAt: pause).elapsedTimeAndStatus(now: start + 20_000)

    let left = countdown.timerInterval.upperBound.timeIntervalSince(
      try #require(countdown.pauseTime))
    let passed = try #require(stopwatch.pauseTime).timeIntervalSince(
      stopwatch.timerInterval.lowerBound)
    #expect(left == 100 - pause)
    #expect(passed == pause)
    #expect(stopwatch.pauseTime == start + pause)
  }

  @Test(arguments: [-100, 0, .nan, .infinity] as [Double])
  func `has an interval even for a duration that nobody can start`(_ duration: Double) {
    let state = run(.timer(duration: duration)).elapsedTimeAndStatus(now: start + 5)

    #expect(state.timerInterval.lowerBound <= state.timerInterval.upperBound)
    #expect(state.pauseTime == nil)
  }

  @Test func `is one of three, for programs that switch over them`() {
    func word(_ status: TimerStatus) -> String {
      switch status {
      case .running: "running"
      case .paused: "paused"
      case .finished: "finished"
      }
    }

    #expect(word(run(.stopwatch).elapsedTimeAndStatus().status) == "running")
  }
}

@Suite struct `The text of a label` {
  private let start = Date(timeIntervalSince1970: 1_764_480_000)

  private func state(_ type: RestoreType, at seconds: Double) -> TimerState {
    RestoreTimerData(startDate: start, pausePeriods: [], type: type)
      .elapsedTimeAndStatus(now: start + seconds)
  }

  @Test(
    arguments: [
      (300, 0, "05:00"), (300, 0.001, "05:00"), (300, 1, "04:59"), (300, 299.001, "00:01"),
      (300, 300, "00:00"), (300, 300.999, "00:00"), (300, 301, "-00:01"), (300, 3900, "-1:00:00"),
      (3600, 0, "1:00:00"), (3600, 1, "59:59"), (90_000, 0, "25:00:00"), (300, 1.0004, "04:59"),
      (300, 0.9996, "04:59"),
    ] as [(Double, Double, String)])
  func `counts down with whole seconds rounded up`(
    _ duration: Double, _ elapsed: Double, _ text: String
  ) {
    #expect(state(.timer(duration: duration), at: elapsed).text == text)
  }

  @Test(
    arguments: [
      (0, "00:00"), (0.999, "00:00"), (1, "00:01"), (59.9996, "01:00"), (3599, "59:59"),
      (3600, "1:00:00"), (90_061, "25:01:01"),
    ] as [(Double, String)])
  func `counts up with whole seconds rounded down`(_ elapsed: Double, _ text: String) {
    #expect(state(.stopwatch, at: elapsed).text == text)
    #expect(String(timerState: state(.stopwatch, at: elapsed)) == text)
    #expect(String(timerState: state(.timer(duration: 9), at: elapsed), countsDown: false) == text)
  }

  @Test func `has single digits of minutes for a countdown label`() {
    #expect(state(.timer(duration: 65), at: 0).shortText == "1:05")
    #expect(state(.timer(duration: 65), at: 66).shortText == "-0:01")
    #expect(state(.timer(duration: 3665), at: 0).shortText == "1:01:05")
    #expect(state(.timer(duration: 665), at: 0).shortText == "11:05")
  }

  @Test func `is dashes without a timer`() {
    #expect(String(timerState: nil) == "--:--")
  }

  @Test func `shows each second for a second, from before zero to after`() {
    let texts = stride(from: 0.0, to: 6, by: 0.1).map {
      state(.timer(duration: 3), at: ($0 * 10).rounded() / 10).text
    }

    let runs = texts.reduce(into: [(String, Int)]()) { runs, text in
      if runs.last?.0 == text { runs[runs.count - 1].1 += 1 } else { runs.append((text, 1)) }
    }
    #expect(runs.map(\.0) == ["00:03", "00:02", "00:01", "00:00", "-00:01", "-00:02"])
    #expect(runs.allSatisfy { $0.1 == 10 })
  }
}
