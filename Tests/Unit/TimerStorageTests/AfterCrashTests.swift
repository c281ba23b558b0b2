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
  private func folderAfterRefusal(isLogOurs: Bool = true) throws -> JSONFolder {
    var folder = try JSONFolder(path: temporary.path)
    folder.preservesChangesByOthers = true
    try folder.commit([.of(13)])
    try folder.checkpoint()
    var looks = 0
    #expect(throws: DiskError.self) {
      try folder.commit([.of(14)]) { () throws(DiskError) in
        looks += 1
        if looks == 2 { throw DiskError("find", temporary.path, code: ESTALE) }
      } isLogOurs: {
        isLogOurs
      }
    }
    return folder
  }

  @Test func `knows nothing of a change that was refused behind its entry`() throws {
    do {
      let folder = try folderAfterRefusal()
      #expect(!folder.isLogInDoubt)
    }

    #expect(try revisions() == [13])
  }

  @Test func `leaves a log to its owner, when a change is refused behind its entry`() throws {
    let folder = try folderAfterRefusal(isLogOurs: false)

    #expect(folder.isLogInDoubt)
    #expect(try revisions() == [14])
  }

  @Test(arguments: [true, false])
  func `goes by a change that follows one that was refused behind its entry`(
    _ isLogOurs: Bool
  ) throws {
    var folder = try folderAfterRefusal(isLogOurs: isLogOurs)

    try folder.commit([.of(15)])

    #expect(try revisions() == [15])
  }

  @Test(arguments: [true, false])
  func `goes by a removal that follows a change that was refused behind its entry`(
    _ isLogOurs: Bool
  ) throws {
    var folder = try folderAfterRefusal(isLogOurs: isLogOurs)

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

    // A power cut leaves the edit, or the contents before it.
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
    // A power cut may have torn the file, so its contents are no edit.
    #expect(!temporary.names.contains("quarantine"))
  }
}

@Suite struct `A mistyped file` {
  private let temporary = TemporaryFolder()

  private func opened() throws -> (folder: TimerFolder, contents: TimerFolder.Contents) {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    let contents = try folder.load()
    return (folder, contents)
  }

  /// A folder whose log is empty, and whose timer `tea`, at revision 13, has this file.
  private func mistyped(_ text: String = "{") throws -> TimerFolder {
    var (folder, _) = try opened()
    try folder.store([.make(1, revision: 13)])
    try folder.checkpoint()
    try mistype(text, in: &folder)
    return folder
  }

  private func mistype(_ text: String, in folder: inout TimerFolder) throws {
    try temporary.write(text, to: "tea.json")
    let doubtful = folder.changesByOthers(nil).doubtful
    #expect(folder.changesByOthers(doubtful, isRecheck: true).changes.count == 1)
  }

  private static let texts = ["{", "", #"{"timer":"tea","version":1,"type":"egg"}"#]

  /// `stops`: the number of times that the log began anew before the end; 0: the server was killed.
  @Test(arguments: texts, [0, 1, 3])
  func `costs no timer at the next start`(_ text: String, _ stops: Int) throws {
    do {
      var folder = try mistyped(text)
      for _ in 0..<stops {
        try folder.checkpoint()
        try folder.commit([.make(2, "rice")])
        try folder.checkpoint()
      }
      #expect(temporary.read("tea.json") == text)
    }

    let contents = try opened().contents

    #expect(contents.timers.first { $0.timer.id == id("tea") }?.timer.revision == 13)
    #expect(contents.faults.map(\.fileName) == ["tea.json"])
    #expect(temporary.read("quarantine/tea.json") == text)
    #expect(temporary.read("tea.json")?.contains("13") == true)
    #expect(try opened().contents.faults == [])
  }

  @Test func `costs no timer when it is mistyped once more`() throws {
    do {
      var folder = try mistyped()
      try mistype(Self.texts[2], in: &folder)
    }

    let contents = try opened().contents

    #expect(contents.timers.map(\.timer.revision) == [13])
    #expect(temporary.read("quarantine/tea.json") == Self.texts[2])
  }

  @Test(arguments: [false, true])
  func `can be corrected in its place`(_ isRunning: Bool) throws {
    do {
      var folder = try mistyped()
      try folder.checkpoint()
      try temporary.replace("tea.json", by: TimerRecord.make(revision: 99).contents())
      if isRunning {
        guard case .edited(let record) = folder.changesByOthers(nil).changes.first else {
          Issue.record("no edit")
          return
        }
        #expect(record.timer.revision == 99)
        try folder.checkpoint()
        #expect(temporary.read("tea.json")?.contains("99") == true)
      }
    }

    let contents = try opened().contents

    #expect(contents.timers.map(\.timer.revision) == [99])
    #expect(contents.faults == [])
  }

  @Test func `is replaced by a change of its timer`() throws {
    var folder = try mistyped()
    try folder.checkpoint()

    try folder.store([.make(2, revision: 14)])

    #expect(folder.drainQuarantined().map(\.fileName) == ["tea.json"])
    #expect(temporary.read("quarantine/tea.json") == "{")
    #expect(temporary.read("tea.json")?.contains("14") == true)
    try folder.checkpoint()
    #expect(folder.isCheckpointed)
  }

  @Test func `takes its timer with it when it is removed`() throws {
    do {
      var folder = try mistyped()
      try temporary.remove("tea.json")
      let doubtful = folder.changesByOthers(nil).doubtful
      guard
        case .removed = folder.changesByOthers(doubtful, isRecheck: true).changes.first
      else {
        Issue.record("no removal")
        return
      }
      try folder.checkpoint()
    }

    #expect(try opened().contents.timers == [])
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

    let changes = folder.changesByOthers(["tea.json"], isRecheck: true).changes

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
  func `is another one where another server owned the folder meanwhile`(_ isOther: Bool) throws {
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
