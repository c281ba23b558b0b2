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

  /// A folder whose file has revision 13, and that has refused revision 14 after the log had it.
  private func folderAfterRefusal() throws -> JSONFolder {
    var folder = try JSONFolder(path: temporary.path)
    folder.sparesChangesByOthers = true
    try folder.commit([.of(13)])
    try folder.checkpoint()
    var looks = 0
    #expect(throws: DiskError.self) {
      try folder.commit([.of(14)]) { () throws(DiskError) in
        looks += 1
        if looks == 2 { throw DiskError("find", temporary.path, code: ESTALE) }
      }
    }
    return folder
  }

  @Test func `goes by a change that follows one that was refused behind its entry`() throws {
    var folder = try folderAfterRefusal()

    try folder.commit([.of(15)])

    #expect(try revisions() == [15])
  }

  @Test func `goes by a removal that follows a change that was refused behind its entry`() throws {
    var folder = try folderAfterRefusal()

    try folder.commit([FolderStep([FileChange(FileName("tea.json"), nil)])])

    #expect(try revisions() == [])
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

@Suite struct `A file that is no timer's` {
  private let temporary = TemporaryFolder()

  private func load() throws -> TimerFolder.Contents {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    return try folder.load()
  }

  @Test(arguments: [(1 << 20) + 1, 64 << 30])
  func `is left for its size alone`(_ size: Int) throws {
    try temporary.write("", to: "tea.json")
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: temporary.path("tea.json")))
    try file.truncate(atOffset: UInt64(size))

    #expect(
      try load().faults.map(\.fault) == [.foreign("it is too long for a timer's file")])
  }

  @Test(arguments: ["/dev/zero", "/dev/null"])
  func `is left behind a link to a device`(_ device: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: temporary.path("tea.json"), withDestinationPath: device)

    #expect(try load().faults.map(\.fault) == [.foreign("it is no file")])
  }

  @Test func `is seen to be too long at an edit`() throws {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    _ = try folder.load()
    try folder.store([.make(1)])
    let long = Data(repeating: UInt8(ascii: " "), count: 1 << 20) + TimerRecord.make().contents()
    try temporary.replace("tea.json", by: long)

    let changes = folder.changesByOthers(["tea.json"], isSecondLook: true).changes

    guard case .damaged(let fault) = changes.first else {
      Issue.record("\(changes)")
      return
    }
    #expect(fault.fault == .foreign("it is too long for a timer's file"))
  }
}

@Suite struct `The history of a folder` {
  private let temporary = TemporaryFolder()

  private func history() throws -> String {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    return try folder.load().history
  }

  @Test func `is kept from start to start`() throws {
    let first = try history()

    #expect(try history() == first)
  }

  @Test(arguments: [-3600.0, 3600.0])
  func `is another one where the file has another time`(_ seconds: Double) throws {
    let first = try history()

    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: seconds)],
      ofItemAtPath: temporary.path(".timersync/history"))

    #expect(try history() != first)
  }

  @Test func `is another one where a copy in place keeps the time of long before`() throws {
    let first = try history()
    let path = temporary.path(".timersync/history")
    let contents = try #require(temporary.read(".timersync/history"))
    var file = try JSONDecoder().decode(HistoryFile.self, from: Data(contents.utf8))
    let then = try #require(file.modified) / 1_000_000_000 - 60
    file.modified = then * 1_000_000_000

    try JSONEncoder().encode(file).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: Double(then))], ofItemAtPath: path)

    #expect(try history() != first)
  }

  @Test func `is kept where an older server wrote it`() throws {
    let first = try history()
    let path = temporary.path(".timersync/history")
    let contents = try #require(temporary.read(".timersync/history"))
    var file = try JSONDecoder().decode(HistoryFile.self, from: Data(contents.utf8))
    file.modified = nil

    try JSONEncoder().encode(file).write(to: URL(fileURLWithPath: path))

    #expect(try history() == first)
  }

  @Test(arguments: [false, true])
  func `is another one where somebody else had the folder meanwhile`(_ isOther: Bool) throws {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    _ = try folder.load()
    try folder.store([.make(1, revision: 13)])
    try folder.checkpoint()
    let first = folder.history
    try temporary.remove(".timersync/lock")
    if isOther {
      var other = try TimerFolder(path: temporary.path, clock: .now)
      _ = try other.load()
      try other.store([.make(1, revision: 20)])
    }

    let contents = try folder.recover()

    #expect((contents != nil) == isOther)
    #expect((folder.history != first) == isOther)
    #expect(contents.map { $0.timers.map(\.timer.revision) } ?? [20] == [20])
  }
}

extension FolderStep {
  fileprivate static func of(_ revision: Int) -> FolderStep {
    FolderStep([FileChange(FileName("tea.json"), TimerRecord.make(revision: revision).contents())])
  }
}
