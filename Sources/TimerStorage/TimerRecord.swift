public import Foundation
public import TimerCore

/// A timer as it stands in its file.
public struct TimerRecord: Hashable, Sendable {
  public var timer: SharedTimer
  /// What the clocks said when it was written.
  public var clock: ClockReading
  /// The last changes that had a name of their own, oldest first.
  public var answered: [AnsweredRequest]
  /// A crossing of zero that happened while no server ran, and of which nobody was told yet.
  public var untoldEnd: Instant?

  public init(
    timer: SharedTimer, clock: ClockReading, answered: [AnsweredRequest] = [],
    untoldEnd: Instant? = nil
  ) {
    self.timer = timer
    self.clock = clock
    self.answered = answered
    self.untoldEnd = untoldEnd
  }

  /// The version of the shape that is written; all before it can be read.
  public static let version = 1
}

/// A change that was made under a name, so that it is made once however often it is sent.
public struct AnsweredRequest: Codable, Hashable, Sendable {
  public let requestId: String
  /// The revision that it made.
  public let revision: Int
  /// When, on the server clock, in seconds since 1970.
  public let at: Double

  public init(requestId: String, revision: Int, at: Instant) {
    self.requestId = requestId
    self.revision = revision
    self.at = at.sinceEpoch.inSeconds
  }
}

/// Why a file holds no timer.
public enum RecordFault: Error, Hashable, Sendable, CustomStringConvertible {
  case unreadable(DiskError)
  /// Empty, cut off, or not the JSON of a timer.
  case malformed(String)
  case newerVersion(Int)
  /// Its parts don't go together.
  case contradiction(String)

  public var description: String {
    switch self {
    case .unreadable(let error): error.description
    case .malformed(let why): "not the JSON of a timer: \(why)"
    case .newerVersion(let version):
      "written by a newer version (\(version), known are up to \(TimerRecord.version))"
    case .contradiction(let why): why
    }
  }
}

// MARK: - Bytes

extension TimerRecord {
  /// The contents of its file, for people to read too.
  public func contents() -> Data {
    do { return try Self.encoder.encode(TimerFile(self)) } catch {
      preconditionFailure("a checked timer can always be encoded: \(error)")
    }
  }

  /// Reads a file's contents; `id` is the timer that the file's name tells.
  public init(contents: Data, id: TimerID) throws(RecordFault) {
    guard !contents.isEmpty else { throw .malformed("the file is empty") }
    let file: TimerFile
    do {
      let version = try JSONDecoder().decode(VersionOnly.self, from: contents).version
      guard (1...Self.version).contains(version) else { throw RecordFault.newerVersion(version) }
      file = try JSONDecoder().decode(TimerFile.self, from: contents)
    } catch let fault as RecordFault {
      throw fault
    } catch {
      throw .malformed(Self.words(error))
    }
    self = try file.record(id: id)
  }

  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  private static func words(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, _): return "\"\(key.stringValue)\" is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return
        "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has the wrong type"
    case .dataCorrupted(let context):
      let inner = (context.underlyingError as? NSError)?.userInfo["NSDebugDescription"] as? String
      return inner ?? context.debugDescription
    @unknown default: return "\(error)"
    }
  }
}

private struct VersionOnly: Decodable {
  let version: Int
}

// MARK: - The shape on disk

/// Version 1: times in seconds, instants since 1970 on the server clock.
///
/// A file written by hand needs `version`, `timer`, `type` and, for a countdown, `duration`.
private struct TimerFile: Codable {
  var version = TimerRecord.version
  var timer: String
  var revision: Int?
  var type: String
  var duration: Double?
  var atZero: AtZero?
  var title: String?
  var warnings: [Double]?
  var run: RunFile?
  var endedAt: Double?
  var changedAt: Double?
  var clock: ClockReading?
  var answered: [AnsweredRequest]?
  var untoldEnd: Double?

  struct RunFile: Codable {
    var duration: Double?
    var startDate: Double
    var pausePeriods: [PauseFile]
    var stopDate: Double?
  }

  struct PauseFile: Codable {
    var pause: Double
    var start: Double?
  }
}

extension TimerFile {
  init(_ record: TimerRecord) {
    let timer = record.timer
    self.timer = timer.id.name
    revision = timer.revision
    type = timer.settings.type == .stopwatch ? "stopwatch" : "timer"
    duration = timer.settings.type.duration?.inSeconds
    atZero = timer.settings.atZero
    title = timer.settings.title
    warnings = timer.settings.warnings.map(\.inSeconds)
    run = timer.run.map(RunFile.init)
    endedAt = timer.endedAt?.sinceEpoch.inSeconds
    changedAt = timer.changedAt.sinceEpoch.inSeconds
    clock = record.clock
    answered = record.answered.isEmpty ? nil : record.answered
    untoldEnd = record.untoldEnd?.sinceEpoch.inSeconds
  }

  func record(id: TimerID) throws(RecordFault) -> TimerRecord {
    guard timer.utf8.elementsEqual(id.name.utf8) else {
      throw .contradiction("the file's name says \"\(id.name)\", its contents \"\(timer)\"")
    }
    guard revision ?? 0 >= 0 else { throw .contradiction("a revision below zero") }
    guard run == nil || clock != nil else {
      throw .contradiction("a \"run\" without the \"clock\" that its times were read on")
    }
    let settings = TimerSettings(
      type: try Self.type(type, duration), atZero: atZero ?? .overtime, title: title ?? "",
      warnings: try Self.warnings(warnings ?? []))
    try Self.checkLimits(settings)
    return TimerRecord(
      timer: SharedTimer(
        id: id, revision: revision ?? 0, settings: settings,
        run: try run?.data(like: settings.type), endedAt: endedAt.map(Self.instant),
        changedAt: Self.instant(changedAt ?? 0)),
      clock: clock ?? ClockReading(server: 0, boot: 0, bootID: ""), answered: answered ?? [],
      untoldEnd: untoldEnd.map(Self.instant))
  }

  /// What the wire would refuse is not let in by a file either.
  private static func checkLimits(_ settings: TimerSettings) throws(RecordFault) {
    guard settings.title.utf8.count <= TimerLimits.titleBytesMax else {
      throw .contradiction("a title of more than \(TimerLimits.titleBytesMax) bytes")
    }
    guard settings.warnings.count <= TimerLimits.warningsMax else {
      throw .contradiction("more than \(TimerLimits.warningsMax) warnings")
    }
    if settings.atZero == .repeat, let duration = settings.type.duration,
      duration < TimerLimits.repeatDurationMin
    {
      throw .contradiction("a duration of \(duration.inSeconds) seconds that repeats")
    }
  }

  private static func warnings(_ values: [Double]) throws(RecordFault) -> [Seconds] {
    var warnings: [Seconds] = []
    for value in values { warnings.append(try seconds(value, "warnings")) }
    return warnings
  }

  private static func instant(_ seconds: Double) -> Instant {
    Instant(Seconds(clamping: seconds))
  }

  private static func type(_ name: String, _ duration: Double?) throws(RecordFault) -> RestoreType {
    switch (name, duration) {
    case ("stopwatch", nil): return .stopwatch
    case ("timer", let duration?):
      let length = try seconds(duration, "duration")
      guard length > .zero, length <= TimerLimits.durationMax else {
        throw .contradiction("a duration of \(duration) seconds")
      }
      return .countdown(length)
    default:
      throw .contradiction("type \"\(name)\" with duration \(duration.map { "\($0)" } ?? "none")")
    }
  }

  fileprivate static func seconds(_ value: Double, _ name: String) throws(RecordFault) -> Seconds {
    guard let length = Seconds(exactly: value), length >= .zero else {
      throw .contradiction("\(name) of \(value) seconds")
    }
    return length
  }
}

extension TimerFile.RunFile {
  init(_ run: RestoreTimerData) {
    duration = run.type.duration?.inSeconds
    startDate = Instant(run.startDate).sinceEpoch.inSeconds
    pausePeriods = run.pausePeriods.map {
      TimerFile.PauseFile(
        pause: Instant($0.pause).sinceEpoch.inSeconds,
        start: $0.start.map { Instant($0).sinceEpoch.inSeconds })
    }
    stopDate = run.stopDate.map { Instant($0).sinceEpoch.inSeconds }
  }

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
      if let duration { .countdown(try TimerFile.seconds(duration, "run.duration")) } else {
        .stopwatch
      }
    return RestoreTimerData(
      startDate: Self.date(startDate),
      pausePeriods: pausePeriods.map {
        PausePeriod(pause: Self.date($0.pause), start: $0.start.map(Self.date))
      },
      type: type, stopDate: stopDate.map(Self.date))
  }

  private static func date(_ seconds: Double) -> Date {
    Instant(Seconds(clamping: seconds)).date
  }
}
