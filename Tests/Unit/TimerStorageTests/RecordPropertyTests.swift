import Foundation
import Testing
import TimerCore
import TimerStorage

/// Walks the properties that a file keeps: a property that the writer or the reader leaves out fails here.
@Suite struct `Each property of a record` {
  private static let start = TimerRecord.start

  /// A record with only the properties that every timer has.
  private static let bare = TimerRecord(
    timer: SharedTimer(
      id: id("bare"), settings: TimerSettings(type: .stopwatch),
      run: RestoreTimerData(.stopwatch, startingAt: 0), changedAt: 0),
    clock: ClockReading(server: 0, boot: 0, bootID: ""))

  /// A countdown and a stopwatch that have all other properties between them.
  private static let full: [TimerRecord] = {
    var run = RestoreTimerData(.countdown(360), startingAt: start)
    run.pausePeriods = [PausePeriod(pause: (start + 1).date, start: (start + 2).date)]
    run.stopDate = (start + 9).date
    let settings = TimerSettings(
      type: .countdown(300), atZero: .finish, title: "Tea", warnings: [60],
      message: SpeakerText("Wrap up").map { SpeakerMessage($0, sentAt: start + 1) },
      signal: SpeakerSignal(.flash, sentAt: start + 2))
    let countdown = TimerRecord(
      timer: SharedTimer(
        id: id("tea"), revision: 12, settings: settings, run: run, runRevision: 7,
        endedAt: start + 9, changedAt: start + 10, runChangedAt: start + 9),
      clock: ClockReading(
        server: start + 10, boot: 5_000, bootID: "b0", wall: WallTime(at: start, offset: 5)),
      answered: [
        IdempotencyRecord(
          requestId: "r", revision: 12, at: start + 10, fingerprint: 5, principal: "p",
          network: "n")
      ],
      ends: [TimerEnd(at: start + 9, revision: 11, isDelivered: true)])
    var stopwatch = bare
    stopwatch.timer.laps = [1, 2.5]
    return [countdown, stopwatch]
  }()

  /// The properties that are the same in both, by name.
  private func same<Value>(_ one: Value, _ other: Value) -> Set<String> {
    let pairs = zip(Mirror(reflecting: one).children, Mirror(reflecting: other).children)
    return Set(pairs.filter { "\($0.value)" == "\($1.value)" }.map { $0.0.label ?? "" })
  }

  @Test func `is kept in the file`() throws {
    for record in Self.full {
      #expect(try TimerRecord(contents: record.contents(), id: record.timer.id) == record)
    }
  }

  @Test func `has a value in this test that is not the default`() throws {
    let (countdown, stopwatch) = (Self.full[0], Self.full[1])

    #expect(
      same(countdown.timer, Self.bare.timer).intersection(same(stopwatch.timer, Self.bare.timer))
        == [])
    #expect(same(countdown, Self.bare) == [])
    #expect(same(countdown.timer.settings, Self.bare.timer.settings) == [])
    #expect(
      same(try #require(countdown.timer.run), try #require(Self.bare.timer.run)) == [])
    #expect(same(countdown.clock, Self.bare.clock) == [])
    #expect(
      same(countdown.answered[0], IdempotencyRecord(requestId: "", revision: 0, at: 0)) == [])
    #expect(same(countdown.ends[0], TimerEnd(at: 0, revision: 0, isDelivered: false)) == [])
  }
}
