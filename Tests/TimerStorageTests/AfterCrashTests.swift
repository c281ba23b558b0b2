import Foundation
import Testing
import TimerCore

@testable import TimerStorage

@Suite struct `A start after a crash` {
  private let temporary = TemporaryFolder()

  private func opened() throws -> TimerFolder {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    _ = try folder.load()
    return folder
  }

  private func revisions() throws -> [Int] {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    return try folder.load().timers.map(\.timer.revision)
  }

  private func put(_ record: TimerRecord) throws {
    try temporary.replace("tea.json", by: record.contents())
  }

  /// `tea` as it was before its last change, which only the log has.
  private func crashed() throws {
    var folder = try opened()
    try folder.store([.make(1, revision: 13)])
    try folder.checkpoint()
    try folder.commit([.make(2, revision: 14)])
  }

  @Test func `goes by the log though a file's mode was changed since`() throws {
    try crashed()

    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: temporary.path("tea.json"))

    #expect(try revisions() == [14])
  }

  @Test func `goes by a file that the log never had`() throws {
    try crashed()

    try put(.make(revision: 5))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)],
      ofItemAtPath: temporary.path("tea.json"))

    #expect(try revisions() == [5])
  }

  @Test func `goes by the log where a file is what it was before the first change`() throws {
    try crashed()

    try put(.make(revision: 13))

    #expect(try revisions() == [14])
  }

  @Test func `goes by a log that began anew, whatever the time of a file`() throws {
    do {
      var folder = try opened()
      try folder.store([.make(1, revision: 13)])
      try folder.checkpoint(staysBusy: true)
      try folder.commit([.make(2, revision: 14)])
      try folder.commit([.make(3, revision: 15)])
    }

    try put(.make(revision: 13))

    #expect(try revisions() == [15])
  }

  @Test(arguments: [13, 99])
  func `goes by changes that were made after an edit was read`(_ revision: Int) throws {
    do {
      var folder = try opened()
      try folder.store([.make(1, revision: 13)])
      try folder.checkpoint()
      try put(.make(revision: 99))
      #expect(folder.changesByOthers(nil).changes.count == 1)
      try folder.commit([.make(2, revision: 100)])
    }

    // A power cut leaves the edit, or what was there before it.
    try put(.make(revision: revision))

    #expect(try revisions() == [100])
  }

  @Test func `goes by an older log, which does not say what files held before`() throws {
    try crashed()
    let log = URL(fileURLWithPath: temporary.path(".timersync/log"))
    var bytes = try Data(contentsOf: log)
    let was = try #require(bytes.firstRange(of: Data(#","was""#.utf8)))
    bytes.replaceSubrange(was, with: Data(#","not""#.utf8))
    try bytes.write(to: log)

    try put(.make(revision: 5))

    #expect(try revisions() == [14])
  }

  @Test func `leaves damage to the log`() throws {
    try crashed()

    try temporary.write("{", to: "tea.json")

    #expect(try revisions() == [14])
  }
}
