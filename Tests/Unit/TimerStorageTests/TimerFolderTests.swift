import Foundation
import Testing
import TimerCore

@testable import TimerStorage

@Suite struct `A data folder` {
  private let temporary = TemporaryFolder()

  private func open() throws -> TimerFolder { try TimerFolder(path: temporary.path, clock: .now) }

  @Test func `is empty at first`() throws {
    var folder = try TimerFolder(path: temporary.path("data"), clock: .now)

    let contents = try folder.load()

    #expect(contents.timers == [])
    #expect(contents.server == ServerRecord())
    #expect(contents.faults == [])
  }

  @Test func `has one owner, and names it to another process`() throws {
    let first = try open()
    let process = Int(ProcessInfo.processInfo.processIdentifier)

    #expect(throws: FolderError.owned(by: process)) { try open() }

    #expect(first.path == temporary.path)
    #expect("\(FolderError.owned(by: process))".contains("\(process)"))
  }

  @Test func `stays with its owner when a start beside it fails`() throws {
    let path = temporary.path("data/timers")
    let late = StartRollback(path)
    try late.makeFolders(path + "/.timersync")
    let owner = try TimerFolder(path: path, clock: .now)

    #expect(throws: FolderError.self) { try late.lock() }
    late.rollBack()

    #expect(throws: FolderError.self) { try TimerFolder(path: path, clock: .now) }
    #expect(owner.displacement == nil)
  }

  @Test func `keeps a lock that took the place of another start's`() throws {
    let late = StartRollback(temporary.path)
    try late.makeFolders(temporary.path(".timersync"))
    _ = try late.lock()
    try temporary.remove(".timersync/lock")
    let owner = try TimerFolder(path: temporary.path, clock: .now)

    late.rollBack()

    #expect(owner.displacement == nil)
  }

  @Test(arguments: [[], [".timersync/lock"]])
  func `is left as it was by a start that fails`(_ files: [String]) throws {
    if !files.isEmpty { try temporary.makeFolder(".timersync") }
    // The file is damaged, and can't be moved to `quarantine`.
    for name in files + ["tea.json", "quarantine"] { try temporary.write("", to: name) }
    let before = try FileManager.default.subpathsOfDirectory(atPath: temporary.path).sorted()

    #expect(throws: FolderError.self) {
      var folder = try open()
      _ = try folder.load()
    }

    let after = try FileManager.default.subpathsOfDirectory(atPath: temporary.path).sorted()
    #expect(after == before)
  }

  @Test func `may be owned by the next when the first is gone`() throws {
    do { _ = try open() }

    #expect(throws: Never.self) { try open() }
  }

  @Test func `can't be a file`() throws {
    try temporary.write("x", to: "file")

    #expect(throws: FolderError.self) { try TimerFolder(path: temporary.path("file"), clock: .now) }
  }

  @Test func `brings back what was written`() throws {
    let names = ["a_b", "a/b", "..", "%2F", "'", "?#", "🍵", "caf\u{E9}", "cafe\u{301}"]
    let records = names.map { TimerRecord.make($0) }
    do {
      var folder = try open()
      try folder.store(
        records.enumerated().map { index, record in
          StoredChange(ticket: UInt64(index + 1), timers: [record.timer.id: record])
        })
    }

    var folder = try open()
    let contents = try folder.load()

    #expect(Set(contents.timers) == Set(records))
    #expect(contents.faults == [])
  }

  @Test func `brings back what was durable when the process died`() throws {
    do {
      var folder = try open()
      try folder.commit([.make(1, revision: 1), .make(2, revision: 2)])
    }

    var folder = try open()

    #expect(try folder.load().timers == [.make(revision: 2)])
  }

  @Test func `brings back what the server remembers`() throws {
    let server = ServerRecord(
      revisionCeiling: 1_012,
      removals: [
        ServerRecord.Removal(
          timer: id("tea"), request: IdempotencyRecord(requestId: "r", revision: 9, at: 5.000001))
      ])
    do {
      var folder = try open()
      try folder.store([
        StoredChange(
          ticket: 1, timers: [id("tea"): nil, id("rice"): .make("rice")], server: server)
      ])
    }

    var folder = try open()
    let contents = try folder.load()

    #expect(contents.server == server)
    #expect(contents.timers == [.make("rice")])
  }

  @Test func `forgets a timer that was removed`() throws {
    var folder = try open()
    try folder.store([.make(1)])

    try folder.store([StoredChange(ticket: 2, timers: [id("tea"): nil])])

    #expect(try folder.load().timers == [])
  }

  @Test func `reports files that hold no timer, without affecting others`() throws {
    var folder = try open()
    try folder.store([.make(1)])
    try temporary.write("", to: "empty.json")
    try temporary.write("{}", to: "%61.json")
    try temporary.write(
      String(decoding: TimerRecord.make("rice").contents(), as: UTF8.self), to: "copy.json")
    try temporary.makeFolder("folder.json")

    let contents = try folder.load()

    #expect(contents.timers == [.make()])
    #expect(
      contents.faults.map(\.fileName) == ["%61.json", "copy.json", "empty.json", "folder.json"])
  }

  @Test(arguments: [-1, 9_007_199_254_740_993, Int.max])
  func `ignores a revision ceiling that is out of range, and reports it`(_ ceiling: Int) throws {
    var folder = try open()
    try folder.store([.make(1)])
    try temporary.write(#"{"revisionCeiling":\#(ceiling),"removals":[]}"#, to: ".server")

    let contents = try folder.load()

    let given = try #require(contents.timers.map(\.timer.revision).max())
    #expect(contents.faults.map(\.fileName) == [".server"])
    #expect(given..<9_007_199_254_740_993 ~= contents.server.revisionCeiling)
  }

  @Test func `puts a file aside that holds no timer, with its contents`() throws {
    var folder = try open()
    let contents = #"{"timer":"notes","version":1,"type":"egg"}"#
    try temporary.write(contents, to: "notes.json")

    let fault = try #require(try folder.load().faults.first)

    let path = try #require(fault.movedTo)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == contents)
    #expect(fault.timer == id("notes"))
    #expect(temporary.read("notes.json") == nil)
  }
}

@Suite struct `A change by others` {
  private let temporary = TemporaryFolder()

  /// A folder that holds the timer `tea`.
  private func stored() throws -> TimerFolder {
    var folder = try TimerFolder(path: temporary.path, clock: .now)
    try folder.store([.make(1)])
    return folder
  }

  /// The same folder, as a server has it.
  private func loaded() throws -> TimerFolder {
    var folder = try stored()
    _ = try folder.load()
    return folder
  }

  private func edit(_ name: String, _ record: TimerRecord) throws {
    try temporary.write(String(decoding: record.contents(), as: UTF8.self), to: name)
  }

  @Test func `is not reported for the server's own writes`() throws {
    var folder = try stored()

    try folder.store([.make(2, revision: 13), .make(3, "rice")])

    #expect(folder.changesByOthers(nil).changes.isEmpty)
    #expect(folder.changesByOthers(["tea.json", "rice.json"]).changes.isEmpty)
  }

  @Test func `is not one when the file was only touched, and takes back nothing`() throws {
    var folder = try loaded()
    try folder.commit([.make(2, revision: 13)])
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000)],
      ofItemAtPath: temporary.path + "/tea.json")

    _ = folder.writeFiles()
    let changes = folder.changesByOthers(folder.drainContested()).changes
    _ = folder.writeFiles()

    #expect(changes.isEmpty)
    #expect(!folder.isBehind)
    let written = try #require(temporary.read("tea.json"))
    #expect(written.contains("\"revision\": 13"))
  }

  @Test func `is seen though we are about to make another, which waits for that`() throws {
    var folder = try loaded()
    try folder.commit([.make(2, revision: 13)])
    try edit("tea.json", .make(revision: 99))

    let errors = folder.writeFiles()
    let contested = folder.drainContested()

    #expect(errors == [])
    #expect(contested == ["tea.json"])
    #expect(temporary.read("tea.json")?.contains("99") == true)
    guard case .edited(let record) = folder.changesByOthers(contested).changes.first else {
      Issue.record("no edit")
      return
    }
    #expect(record.timer.revision == 99)
    #expect(folder.writeFiles() == [])
    #expect(temporary.read("tea.json")?.contains("13") == true)
  }

  @Test func `is kept when the server removes the timer`() throws {
    var folder = try loaded()
    try folder.commit([StoredChange(ticket: 2, timers: [id("tea"): nil])])
    try edit("tea.json", .make(revision: 99))

    _ = folder.writeFiles()

    #expect(folder.drainContested() == ["tea.json"])
    #expect(temporary.read("tea.json")?.contains("99") == true)
  }

  @Test func `that removed a file leaves what is there again`() throws {
    var folder = try loaded()
    try temporary.remove("tea.json")
    _ = folder.changesByOthers(["tea.json"], isRecheck: true)
    var removal = StoredChange(ticket: 2, timers: [id("tea"): nil])
    removal.goneAlready = [id("tea")]
    try folder.commit([removal])

    try edit("tea.json", .make(revision: 99))
    _ = folder.writeFiles()

    #expect(temporary.read("tea.json")?.contains("99") == true)
  }

  @Test func `that removed a file leaves what is there again at the next start`() throws {
    do {
      var folder = try loaded()
      var removal = StoredChange(ticket: 2, timers: [id("tea"): nil])
      removal.goneAlready = [id("tea")]
      try edit("tea.json", .make(revision: 99))
      try folder.commit([removal])
    }
    var folder = try TimerFolder(path: temporary.path, clock: .now)

    #expect(try folder.load().timers.map(\.timer.revision) == [99])
  }

  @Test func `may be an edit`() throws {
    var folder = try stored()
    var edited = TimerRecord.make()
    edited.timer.settings.title = "by hand"

    try edit("tea.json", edited)

    guard case .edited(let record) = folder.changesByOthers(["tea.json"]).changes.first else {
      Issue.record("no edit")
      return
    }
    #expect(record == edited)
  }

  @Test func `may be a new file`() throws {
    var folder = try stored()

    try edit("rice.json", .make("rice"))

    guard case .edited(let record) = folder.changesByOthers(nil).changes.first else {
      Issue.record("no edit")
      return
    }
    #expect(record == .make("rice"))
  }

  @Test func `may be a removal`() throws {
    var folder = try stored()

    try temporary.remove("tea.json")
    let firstLook = folder.changesByOthers(nil)

    #expect(firstLook.changes.isEmpty)
    #expect(firstLook.doubtful == ["tea.json"])
    let recheck = folder.changesByOthers(firstLook.doubtful, isRecheck: true)
    guard case .removed(let removed) = recheck.changes.first else {
      Issue.record("no removal")
      return
    }
    #expect(removed == id("tea"))
  }

  @Test func `is no removal when the file is back at the recheck`() throws {
    var folder = try stored()
    let contents = try #require(temporary.read("tea.json"))
    try temporary.remove("tea.json")
    let doubtful = folder.changesByOthers(nil).doubtful
    try temporary.write(contents, to: "tea.json")

    let recheck = folder.changesByOthers(doubtful, isRecheck: true)

    // A file with the same contents is no edit either.
    #expect(recheck.changes.isEmpty)
    #expect(recheck.doubtful.isEmpty)
  }

  @Test func `is in doubt at first when it may be half written`() throws {
    var folder = try stored()

    try temporary.write("{", to: "tea.json")
    let firstLook = folder.changesByOthers(["tea.json"])
    try edit("tea.json", .make(revision: 14))
    let recheck = folder.changesByOthers(["tea.json"], isRecheck: true)

    #expect(firstLook.changes.isEmpty)
    #expect(firstLook.doubtful == ["tea.json"])
    guard case .edited(let record) = recheck.changes.first else {
      Issue.record("no edit")
      return
    }
    #expect(record == .make(revision: 14))
  }

  @Test func `may be damage, which is left as it is`() throws {
    var folder = try stored()

    try temporary.write("{", to: "tea.json")
    let doubtful = folder.changesByOthers(["tea.json"]).doubtful

    guard
      case .damaged(let fault) = folder.changesByOthers(doubtful, isRecheck: true).changes.first
    else {
      Issue.record("no damage")
      return
    }
    #expect(fault.timer == id("tea"))
    #expect(temporary.read("tea.json") == "{")
    #expect(folder.changesByOthers(nil).doubtful.isEmpty)
  }

  @Test func `is reported once`() throws {
    var folder = try stored()
    try edit("rice.json", .make("rice"))
    try temporary.remove("tea.json")

    #expect(folder.changesByOthers(nil).changes.count == 1)
    #expect(folder.changesByOthers(["tea.json"], isRecheck: true).changes.count == 1)
    #expect(folder.changesByOthers(nil).changes.isEmpty)
    #expect(folder.changesByOthers(["tea.json"], isRecheck: true).changes.isEmpty)
  }

  @Test(arguments: [".tea.json.new", ".server", "notes.txt", "quarantine"] as [FileName])
  func `is none to what is no timer's file`(_ name: FileName) throws {
    var folder = try stored()

    try temporary.write("x", to: name.text)

    #expect(folder.changesByOthers(nil).changes.isEmpty)
    #expect(folder.changesByOthers([name]).changes.isEmpty)
  }
}
