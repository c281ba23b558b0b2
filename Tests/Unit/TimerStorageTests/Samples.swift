import Foundation
import Testing
import TimerCore

@testable import TimerStorage

/// A timer's name that a test writes down.
func id(_ name: String) -> TimerID {
  guard let id = TimerID(name) else { preconditionFailure("\(name) is no timer's name") }
  return id
}

extension TimerRecord {
  static let start: Instant = 1_764_480_000.25

  /// A record of a countdown from 300 s that runs.
  static func make(
    _ name: String = "tea", revision: Int = 12, type: RestoreType = .countdown(300),
    run: RestoreTimerData? = RestoreTimerData(.countdown(300), startingAt: start),
    answered: [IdempotencyRecord] = []
  ) -> TimerRecord {
    TimerRecord(
      timer: SharedTimer(
        id: id(name), revision: revision,
        settings: TimerSettings(
          type: type, atZero: .overtime, title: "Pasta", warnings: [60, 10.5]),
        run: run, changedAt: start),
      clock: ClockReading(server: start, boot: 5_000.000001, bootID: "b0"), answered: answered)
  }
}

extension StoredChange {
  static func make(
    _ ticket: UInt64, _ name: String = "tea", revision: Int = 12, bases: Set<UInt64> = [],
    reported: UInt64 = 0
  ) -> StoredChange {
    StoredChange(
      ticket: ticket, timers: [id(name): .make(name, revision: revision)], bases: bases,
      reported: reported)
  }
}

extension FileName: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(text)
  }
}

extension FolderStep {
  /// A step that writes one file.
  static func write(_ fileName: FileName, _ contents: String) -> FolderStep {
    FolderStep([.write(fileName, contents)])
  }

  static func remove(_ fileName: FileName) -> FolderStep {
    FolderStep([.remove(fileName)])
  }
}

extension FileChange {
  static func write(_ fileName: FileName, _ contents: String) -> FileChange {
    FileChange(fileName, Data(contents.utf8))
  }

  static func remove(_ fileName: FileName) -> FileChange {
    FileChange(fileName, nil)
  }
}

extension TimerFolder {
  /// Makes writes durable and writes their files.
  mutating func store(_ writes: [StoredChange]) throws {
    try commit(writes)
    try #require(writeFiles() == [])
  }
}

extension ClockReading {
  /// The clocks' reading in these tests, a little after all their events.
  static let now = ClockReading(server: 1_764_480_100, boot: 5_100, bootID: "b0")
}
