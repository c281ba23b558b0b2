import Foundation
import Testing

@testable import TimerStorage

@Suite struct `A folder of files` {
  private let temporary = TemporaryFolder()

  private func open() throws -> JSONFolder { try JSONFolder(path: temporary.path) }

  /// Whether no file of an unfinished write is left.
  private var isTidy: Bool { !temporary.names.contains { $0.hasSuffix(".new") } }

  @Test func `is made where there is none`() throws {
    let path = temporary.path("a/b/c")

    _ = try JSONFolder(path: path)

    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `can't be a file`() throws {
    try temporary.write("x", to: "file")

    #expect(throws: DiskError.self) { try JSONFolder(path: temporary.path("file")) }
  }

  @Test func `has no files at first`() throws {
    #expect(try open().fileNames() == [])
  }

  @Test func `holds what was written`() throws {
    var folder = try open()

    try folder.commit([.write("a.json", "1")])

    #expect(folder.writeFiles() == [])
    #expect(try folder.read("a.json") == Data("1".utf8))
    #expect(isTidy)
  }

  @Test(arguments: [2, 8, 9, 100])
  func `holds many files written together`(_ count: Int) throws {
    var folder = try open()

    try folder.commit((0..<count).map { .write(FileName("f\($0).json"), "\($0)") })

    #expect(folder.writeFiles() == [])
    #expect(try folder.fileNames().count == count)
    #expect(temporary.read("f\(count - 1).json") == "\(count - 1)")
    #expect(isTidy)
  }

  @Test func `holds the last of several writes of one file`() throws {
    var folder = try open()

    try folder.commit([
      .write("a.json", "1"), .write("b.json", "b"), .write("a.json", "2"), .write("a.json", "3"),
    ])

    #expect(folder.writeFiles() == [])
    #expect(temporary.read("a.json") == "3")
    #expect(temporary.read("b.json") == "b")
  }

  @Test func `replaces a file by a shorter one`() throws {
    var folder = try open()
    try folder.commit([.write("a.json", "long contents")])
    _ = folder.writeFiles()

    try folder.commit([.write("a.json", "1")])
    _ = folder.writeFiles()

    #expect(temporary.read("a.json") == "1")
  }

  @Test func `forgets a file that is removed`() throws {
    var folder = try open()
    try folder.commit([.write("a.json", "1")])
    _ = folder.writeFiles()

    try folder.commit([.remove("a.json")])

    #expect(folder.writeFiles() == [])
    #expect(try folder.fileNames() == [])
  }

  @Test func `forgets a file that was not there`() throws {
    var folder = try open()

    try folder.commit([.remove("a.json")])

    #expect(folder.writeFiles() == [])
  }

  @Test func `tells writes and removals of one file apart by their order`() throws {
    var folder = try open()

    try folder.commit([.write("a.json", "1"), .remove("a.json")])
    try folder.commit([.remove("b.json"), .write("b.json", "2")])
    _ = folder.writeFiles()

    #expect(temporary.read("a.json") == nil)
    #expect(temporary.read("b.json") == "2")
    #expect(isTidy)
  }

  @Test func `writes several files as one step`() throws {
    var folder = try open()
    try folder.commit([.write("c.json", "old")])

    try folder.commit([
      FolderStep([.write("a.json", "1"), .write("b.json", "2"), .remove("c.json")])
    ])

    #expect(folder.writeFiles() == [])
    #expect(try folder.fileNames() == ["a.json", "b.json"])
  }

  @Test func `has nothing to do for a step of nothing`() throws {
    var folder = try open()

    try folder.commit([FolderStep([])])

    #expect(folder.writeFiles() == [])
  }

  @Test func `lists values alone, sorted by bytes`() throws {
    var folder = try open()
    try folder.commit([.write("b.json", "1"), .write("a.json", "1"), .write("B.json", "1")])
    _ = folder.writeFiles()
    try temporary.write("x", to: "notes.txt")
    try temporary.write("x", to: ".server")

    #expect(try folder.fileNames() == ["B.json", "a.json", "b.json"])
  }

  @Test func `has an empty log after a checkpoint`() throws {
    var folder = try open()
    try folder.commit([.write("a.json", "1")])
    let before = folder.isCheckpointed

    try folder.checkpoint()

    #expect(!before)
    #expect(folder.isCheckpointed)
    #expect(temporary.read("a.json") == "1")
    #expect(temporary.read(".timersync/log") == "")
  }

  @Test func `puts a file aside with its contents`() throws {
    var folder = try open()
    try temporary.write("one", to: "a.json")
    let first = try folder.quarantine("a.json")
    try temporary.write("two", to: "a.json")

    let second = try folder.quarantine("a.json")

    #expect(try folder.fileNames() == [])
    #expect(try String(contentsOfFile: first, encoding: .utf8) == "one")
    #expect(try String(contentsOfFile: second, encoding: .utf8) == "two")
  }
}

@Suite struct `A folder whose disk refuses` {
  private let temporary = TemporaryFolder()

  @Test func `the log takes no step`() throws {
    try temporary.breakLog()
    var folder = try JSONFolder(path: temporary.path)

    #expect(throws: DiskError.self) { try folder.commit([.write("a.json", "1")]) }

    #expect(folder.writeFiles() == [])
    #expect(temporary.read("a.json") == nil)
  }

  @Test func `the log takes steps again with a new log`() throws {
    try temporary.breakLog()
    var folder = try JSONFolder(path: temporary.path)
    #expect(throws: DiskError.self) { try folder.commit([.write("a.json", "1")]) }

    try folder.commit([.write("b.json", "2")])
    let reopened = try JSONFolder(path: temporary.path)

    #expect(try reopened.fileNames() == ["b.json"])
  }

  @Test func `a file is behind, at no cost to others`() throws {
    var folder = try JSONFolder(path: temporary.path)
    try temporary.makeFolder("a.json")

    try folder.commit([.write("a.json", "1"), .write("b.json", "2")])
    let errors = folder.writeFiles()

    #expect(errors.map { $0.path.hasSuffix("a.json") } == [true])
    #expect(temporary.read("b.json") == "2")
    #expect(!folder.isCheckpointed)
  }

  @Test func `a file is written as soon as it can be`() throws {
    var folder = try JSONFolder(path: temporary.path)
    try temporary.makeFolder("a.json")
    try folder.commit([.write("a.json", "1")])
    _ = folder.writeFiles()

    try temporary.remove("a.json")

    #expect(folder.writeFiles() == [])
    #expect(temporary.read("a.json") == "1")
  }

  @Test func `a file that is behind is not lost by a restart`() throws {
    do {
      var folder = try JSONFolder(path: temporary.path)
      try temporary.makeFolder("a.json")
      try folder.commit([.write("a.json", "1")])
      _ = folder.writeFiles()
    }
    try temporary.remove("a.json")

    _ = try JSONFolder(path: temporary.path)

    #expect(temporary.read("a.json") == "1")
  }
}

@Suite struct `A folder after a crash` {
  private let temporary = TemporaryFolder()

  init() throws {
    var folder = try JSONFolder(path: temporary.path)
    try folder.commit([.write("a.json", "old"), .write("c.json", "old")])
    try folder.checkpoint()
  }

  private func reopened() throws -> JSONFolder { try JSONFolder(path: temporary.path) }

  /// Leaves the folder as a process does that dies right after its steps were durable.
  private func crash(after steps: [FolderStep]) throws {
    var folder = try JSONFolder(path: temporary.path)
    try folder.commit(steps)
  }

  private func changeLog(_ change: (inout Data) -> Void) throws {
    let log = URL(fileURLWithPath: temporary.path(".timersync/log"))
    var bytes = try Data(contentsOf: log)
    change(&bytes)
    try bytes.write(to: log)
  }

  @Test func `holds nothing of a write that was not finished`() throws {
    try temporary.write("half", to: ".a.json.new")
    try temporary.write("half", to: ".x.json.new")

    let folder = try reopened()

    #expect(try folder.fileNames() == ["a.json", "c.json"])
    #expect(temporary.read("a.json") == "old")
    #expect(!temporary.names.contains { $0.hasSuffix(".new") })
  }

  @Test func `holds every step that was durable, though no file was written`() throws {
    let step = FolderStep([.write("a.json", "new\n{\"x\":1}\n"), .remove("c.json")])
    try crash(after: [step, .write("b.json", ""), .write("🍵.json", "é")])

    let folder = try reopened()

    #expect(try folder.fileNames() == ["a.json", "b.json", "🍵.json"])
    #expect(temporary.read("a.json") == "new\n{\"x\":1}\n")
    #expect(temporary.read("b.json") == "")
    #expect(temporary.read("🍵.json") == "é")
    #expect(folder.isCheckpointed)
  }

  @Test func `holds every step again after a crash while it came back`() throws {
    try crash(after: [.write("a.json", "1"), .write("a.json", "2"), .write("b.json", "2")])
    try temporary.write("2", to: "a.json")
    try temporary.write("2", to: ".b.json.new")

    let folder = try reopened()

    #expect(try folder.fileNames() == ["a.json", "b.json", "c.json"])
    #expect(temporary.read("a.json") == "2")
    #expect(temporary.read("b.json") == "2")
  }

  @Test(arguments: [1, 3, 60])
  func `forgets a step that was cut off, and keeps those before`(_ missing: Int) throws {
    let step = FolderStep([.write("a.json", "new"), .write("b.json", "new"), .remove("c.json")])
    try crash(after: [.write("a.json", "1"), step])
    try changeLog { $0.removeLast(missing) }

    let folder = try reopened()

    #expect(try folder.fileNames() == ["a.json", "c.json"])
    #expect(temporary.read("a.json") == "1")
    #expect(temporary.read("c.json") == "old")
  }

  @Test func `forgets a step that was torn`() throws {
    try crash(after: [.write("a.json", "new")])
    try changeLog { $0[$0.count - 1] ^= 1 }

    _ = try reopened()

    #expect(temporary.read("a.json") == "old")
  }

  @Test(arguments: [
    "\n", "{}\n", "tea", "{\"files\":[{\"name\":\"a.json\",\"bytes\":-1}],\"checksum\":0}\n",
    "{\"files\":[{\"name\":\"a\",\"bytes\":\(Int.max)},{\"name\":\"b\",\"bytes\":1}],\"checksum\":0}\n",
  ])
  func `makes nothing of a log that holds something else`(_ log: String) throws {
    try temporary.write(log, to: ".timersync/log")

    let folder = try reopened()

    #expect(try folder.fileNames() == ["a.json", "c.json"])
    #expect(temporary.read("a.json") == "old")
  }

  @Test func `keeps what lies behind a damaged step, but never a second time`() throws {
    let first = FolderStep.write("a.json", "first")
    try crash(after: [first, .write("b.json", "behind")])
    try changeLog { bytes in
      guard let torn = bytes.range(of: Data("first".utf8))?.lowerBound else { return }
      bytes[torn] ^= 1
    }

    // The next step is as long as the damaged one, and lies in its place.
    var folder = try reopened()
    let kept = temporary.read("b.json")
    try folder.commit([.write("b.json", "newer")])
    try folder.checkpoint()
    try crash(after: [first])
    _ = try reopened()

    #expect(kept == "behind")
    #expect(temporary.read("a.json") == "first")
    #expect(temporary.read("b.json") == "newer")
  }

  @Test func `reports damage that no crash can have done, and not a torn end`() throws {
    let steps = [FolderStep.write("a.json", "1"), .write("b.json", "2")]
    try crash(after: steps)
    try changeLog { $0.removeLast(1) }
    var tornEnd = false
    _ = try JSONFolder(path: temporary.path) { tornEnd = $1.damaged != nil }

    do {
      var folder = try JSONFolder(path: temporary.path)
      for step in steps { try folder.commit([step]) }
    }
    try changeLog { $0[$0.startIndex + 3] ^= 1 }
    var damage = false
    _ = try JSONFolder(path: temporary.path) { damage = $1.damaged != nil }

    #expect(!tornEnd)
    #expect(damage)
  }

  @Test(arguments: 0..<4)
  func `takes a group that was torn anywhere for one that was never answered`(_ torn: Int) throws {
    let names = ["w.json", "x.json", "y.json", "z.json"]
    do {
      var folder = try JSONFolder(path: temporary.path)
      try folder.commit([.write("a.json", "1"), .write("b.json", "1")])
      try folder.commit(names.map { .write(FileName($0), "group of \($0)") })
    }
    try changeLog { bytes in
      let place = bytes.range(of: Data("group of \(names[torn])".utf8))?.lowerBound
      place.map { bytes[$0] ^= 1 }
    }
    var damage = false

    _ = try JSONFolder(path: temporary.path) { damage = $1.damaged != nil }

    #expect(!damage)
    #expect(temporary.read("a.json") == "1")
    #expect(temporary.read("b.json") == "1")
    let kept = names.filter { temporary.read($0) != nil }
    #expect(kept == names.filter { $0 != names[torn] })
  }

  @Test(arguments: ["a.json", "b.json"])
  func `reports damage in a group that is followed by another`(_ name: String) throws {
    do {
      var folder = try JSONFolder(path: temporary.path)
      try folder.commit([.write("a.json", "first a.json"), .write("b.json", "first b.json")])
      try folder.commit([.write("c.json", "2"), .write("d.json", "2")])
    }
    try changeLog { bytes in
      bytes.range(of: Data("first \(name)".utf8)).map { bytes[$0.lowerBound] ^= 1 }
    }
    var damage = false

    _ = try JSONFolder(path: temporary.path) { damage = $1.damaged != nil }

    #expect(damage)
    #expect(temporary.read("d.json") == "2")
  }

  @Test func `takes a log that was torn while it began anew for what it was`() throws {
    do {
      var folder = try JSONFolder(path: temporary.path)
      for number in 0..<40 { try folder.commit([.write("a.json", "\(number)")]) }
      try folder.checkpoint(staysBusy: true)
      try folder.commit([.write("b.json", "x"), .write("b.json", "y")])
    }
    // The beginning of the entry that would begin the log anew once more, written over the previous first entry.
    try changeLog {
      $0.replaceSubrange(
        $0.startIndex..<$0.startIndex + 20, with: Data("{\"files\":[],\"versio?".utf8))
    }
    var damage = false

    _ = try JSONFolder(path: temporary.path) { damage = $1.damaged != nil }

    #expect(!damage)
    #expect(temporary.read("b.json") == "y")
  }
}
