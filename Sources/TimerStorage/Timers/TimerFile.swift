import Foundation
import TimerCore

/// The one member that every version has.
struct TimerFileVersion: Decodable {
  let version: Int
}

/// A timer's file: its settings, and all else.
struct TimerFileContents: Decodable {
  let timer: TimerFile
  let settings: TimerSettings

  init(from decoder: any Decoder) throws {
    timer = try TimerFile(from: decoder)
    settings = try SettingsFile(from: decoder).settings
  }
}

// MARK: - The shape on disk

/// Version 1: times in seconds, instants since 1970 on the server clock.
///
/// A file written by hand needs `version`, `timer`, `type` and, for a countdown, `duration`. `SettingsFile` reads
/// the settings, which are beside these members.
struct TimerFile: Decodable {
  var version: Int
  var timer: String
  var revision: Int?
  var run: RunFile?
  var endedAt: Double?
  var changedAt: Double?
  var runChangedAt: Double?
  var clock: ClockReading?
  var answered: [IdempotencyRecord]?
  var ends: [EndFile]?
  /// The undelivered ones among `ends`; a server of an older version kept only these. The name is that of the file's
  /// key.
  var untoldEnds: [Double]?

  struct EndFile: Decodable {
    var endedAt: Double
    var revision: Int
  }

  struct RunFile: Decodable {
    var revision: Int?
    var duration: Double?
    var startDate: Double
    var pausePeriods: [PauseFile]
    var stopDate: Double?
    var laps: [Double]?
  }

  struct PauseFile: Decodable {
    var pause: Double
    var start: Double?
  }
}

extension TimerFile {
  func record(id: TimerID, _ settings: TimerSettings) throws(RecordFault) -> TimerRecord {
    guard timer.utf8.elementsEqual(id.name.utf8) else {
      throw .contradiction("the file's name says \"\(id.name)\", its contents \"\(timer)\"")
    }
    guard 0...TimerLimits.revisionMax ~= revision ?? 0 else {
      throw .contradiction("a revision that is not 0 to \(TimerLimits.revisionMax)")
    }
    guard run == nil || clock != nil else {
      throw .contradiction("a \"run\" without the \"clock\" that its times were read on")
    }
    return TimerRecord(
      timer: SharedTimer(
        id: id, revision: revision ?? 0, settings: settings,
        run: try run?.data(like: settings.type), runRevision: try run?.checkedRevision(),
        laps: try run?.checkedLaps() ?? [], endedAt: endedAt.map(Self.instant),
        changedAt: Self.instant(changedAt ?? 0), runChangedAt: runChangedAt.map(Self.instant)),
      clock: clock ?? ClockReading(server: 0, boot: 0, bootID: ""), answered: answered ?? [],
      ends: checkedEnds())
  }

  private func checkedEnds() -> [TimerEnd] {
    let undelivered = Set((untoldEnds ?? []).map(Self.instant))
    var ends = (ends ?? []).map {
      let at = Self.instant($0.endedAt)
      // No server counts that far: it was written by hand.
      let revision = min(max(0, $0.revision), TimerLimits.revisionMax / 2)
      return TimerEnd(at: at, revision: revision, isDelivered: !undelivered.contains(at))
    }
    for at in undelivered.subtracting(ends.map(\.at)).sorted() {
      ends.append(TimerEnd(at: at, revision: revision ?? 0, isDelivered: false))
    }
    return ends.suffix(TimerEnd.kept)
  }

  private static func instant(_ seconds: Double) -> Instant {
    Instant(Seconds(clamping: seconds))
  }
}

extension TimerFile.RunFile {
  func data(like settings: RestoreType) throws(RecordFault) -> RestoreTimerData {
    guard (duration == nil) == (settings == .stopwatch) else {
      throw .contradiction("a run of another type than the timer's")
    }
    guard pausePeriods.dropLast().allSatisfy({ $0.start != nil }) else {
      throw .contradiction("a pause that is open, and another one after it")
    }
    guard pausePeriods.count <= TimerLimits.pausePeriodsMax + 1 else {
      throw .contradiction("\(pausePeriods.count) pauses")
    }
    let type: RestoreType =
      if let duration { .countdown(try Seconds(member: "run.duration", duration)) } else {
        .stopwatch
      }
    return RestoreTimerData(
      startDate: Self.date(startDate),
      pausePeriods: pausePeriods.map {
        PausePeriod(pause: Self.date($0.pause), start: $0.start.map(Self.date))
      },
      type: type, stopDate: stopDate.map(Self.date))
  }

  func checkedRevision() throws(RecordFault) -> Int? {
    guard 0...TimerLimits.revisionMax ~= revision ?? 0 else {
      throw .contradiction("a run's revision that is not 0 to \(TimerLimits.revisionMax)")
    }
    return revision
  }

  func checkedLaps() throws(RecordFault) -> [Seconds] {
    guard let laps, !laps.isEmpty else { return [] }
    guard duration == nil else { throw .contradiction("laps of a countdown") }
    guard laps.count <= TimerLimits.lapsMax else {
      throw .contradiction("\(laps.count) laps; \(TimerLimits.lapsMax) are the most")
    }
    let lengths = try Seconds.lengths(member: "run.laps", laps)
    guard zip(lengths, lengths.dropFirst()).allSatisfy({ $0 <= $1 }) else {
      throw .contradiction("a lap that is less than the one before")
    }
    return lengths
  }

  private static func date(_ seconds: Double) -> Date {
    Instant(Seconds(clamping: seconds)).date
  }
}
