import Foundation
import Testing
import TimerCore

@testable import TimerStorage

private let nineHours: Seconds = 32_400

/// The clocks' reading some seconds after the samples' start; the wall clock was set by `step` before.
private func reading(after passed: Seconds, step: Seconds) -> ClockReading {
  let server = TimerRecord.start + passed
  return ClockReading(
    server: server, boot: (5_000 as Seconds) + passed, bootID: "b0",
    wall: WallTime(at: server, offset: step))
}

/// The same after another start of the machine.
private func readingOfAnotherBoot(after passed: Seconds, step: Seconds) -> ClockReading {
  let wall = WallTime(at: TimerRecord.start + passed, offset: step)
  return ClockReading(server: wall.instant(offset: .zero), boot: 20, bootID: "b1", wall: wall)
}

@Suite struct `A record from before the clock was set` {
  private func record(_ clock: ClockReading) -> TimerRecord {
    let named = IdempotencyRecord(
      requestId: "r", revision: 12, at: TimerRecord.start, fingerprint: 7)
    var record = TimerRecord.make(answered: [named])
    record.clock = clock
    record.ends = [TimerEnd(at: TimerRecord.start + 1, revision: 1, isDelivered: false)]
    record.timer.endedAt = TimerRecord.start + 2
    record.timer.settings.signal = SpeakerSignal(.flash, sentAt: TimerRecord.start + 3)
    return record
  }

  @Test func `keeps the wall clock in its file`() throws {
    let record = record(reading(after: 5.000001, step: nineHours))

    let contents = record.contents()

    #expect(String(decoding: contents, as: UTF8.self).contains("\"wall\": 1764512405.250001"))
    #expect(try TimerRecord(contents: contents, id: record.timer.id) == record)
  }

  @Test(arguments: [nineHours, -nineHours] as [Seconds])
  func `moves with all its instants, once`(_ step: Seconds) {
    let record = record(reading(after: 0, step: 0))
    let now = readingOfAnotherBoot(after: 600, step: step)

    let moved = record.moved(to: now, by: [reading(after: 60, step: step)])

    let start = TimerRecord.start + step
    #expect(now.server == start + 600)
    #expect(moved.clock == now)
    #expect(moved.answered.map(\.at) == [start.sinceEpoch.inSeconds])
    #expect(moved.answered.map(\.fingerprint) == [7])
    #expect(moved.ends.map(\.at) == [start + 1])
    #expect(moved.timer.endedAt == start + 2)
    #expect(moved.timer.settings.signal?.sentAt == start + 3)
    #expect(moved.timer.changedAt == start)
    #expect(moved.timer.run?.startDate == start.date)
    #expect(moved.moved(to: now) == moved)
  }

  @Test func `is moved by what the server remembers of the clocks`() {
    var contents = TimerFolder.Contents()
    contents.timers = [record(reading(after: 0, step: 0))]
    let removed = IdempotencyRecord(requestId: "gone", revision: 13, at: TimerRecord.start + 60)
    contents.server = ServerRecord(
      revisionCeiling: 100, removals: [.init(timer: id("rice"), request: removed)],
      clock: reading(after: 60, step: nineHours))

    let moved = contents.moved(to: readingOfAnotherBoot(after: 600, step: nineHours))

    #expect(moved.timers.map(\.timer.changedAt) == [TimerRecord.start + nineHours])
    let at = (TimerRecord.start + 60 + nineHours).sinceEpoch.inSeconds
    #expect(moved.server.removals.map(\.request.at) == [at])
    #expect(moved.server.revisionCeiling == 100)
  }
}

@Suite struct `Named changes from before the clock was set` {
  private let temporary = TemporaryFolder()

  private func write(_ ticket: UInt64, _ clock: ClockReading) -> StoredChange {
    let named = IdempotencyRecord(requestId: "r", revision: 12, at: TimerRecord.start)
    var record = TimerRecord.make(answered: [named])
    record.clock = clock
    return StoredChange(ticket: ticket, timers: [record.timer.id: record], clock: clock)
  }

  private func set(_ clock: ClockReading) -> StoredChange {
    StoredChange(ticket: 2, timers: [:], server: ServerRecord(clock: clock), clock: clock)
  }

  private func knownAt(_ step: Seconds) throws -> [Double] {
    let now = readingOfAnotherBoot(after: 600, step: step)
    var folder = try TimerFolder(path: temporary.path, clock: now)
    return try folder.load().requests.map(\.at)
  }

  @Test(arguments: [nineHours, -nineHours] as [Seconds], [true, false])
  func `are as old as they are`(_ step: Seconds, _ isCheckpointed: Bool) throws {
    do {
      var folder = try TimerFolder(path: temporary.path, clock: reading(after: -5, step: 0))
      try folder.commit([write(1, reading(after: 0, step: 0))])
      if isCheckpointed { try folder.checkpoint() }
      try folder.commit([set(reading(after: 60, step: step))])
      if isCheckpointed { try folder.checkpoint() }
    }

    let at = (TimerRecord.start + step).sinceEpoch.inSeconds
    #expect(try knownAt(step) == [at])
  }

  @Test func `are written with what the clocks say then`() throws {
    do {
      var folder = try TimerFolder(path: temporary.path, clock: reading(after: -5, step: 0))
      try folder.commit([write(1, reading(after: 60, step: nineHours))])
      try folder.checkpoint()
    }

    let file = try #require(temporary.read(".requests"))

    #expect(file.contains("\"wall\":1764512460.25"))
  }
}
