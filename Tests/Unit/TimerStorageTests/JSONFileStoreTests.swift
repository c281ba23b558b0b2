import Foundation
import Synchronization
import Testing

@testable import TimerStorage

private struct Sample: Codable, Hashable {
  var name = "tea"
  var parts = [1, 2]
  var next: [Int: String]?
}

private enum Dial: String, StorageKey {
  case volume, theme, count
}

/// A key whose value JSON can't hold.
private struct Unwritable: Codable {
  struct Refusal: Error {}
  init() {}
  init(from decoder: any Decoder) throws {}
  func encode(to encoder: any Encoder) throws { throw Refusal() }
}

extension TemporaryFolder {
  fileprivate func store(
    _ name: String = "store", onError: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> JSONFileStore {
    JSONFileStore(insideDirectory: URL(fileURLWithPath: path), name: name, onError: onError)
  }

  fileprivate var valueFiles: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path("store"))) ?? []).filter {
      $0.hasSuffix(".json")
    }.sorted()
  }
}

@Suite struct `A store` {
  private let temporary = TemporaryFolder()
  private let store: JSONFileStore

  init() { store = temporary.store() }

  @Test func `gives values of all types back`() throws {
    let sample = Sample(next: [3: "x"])
    store.store(true, forKey: "bool")
    store.store(-7, forKey: "int")
    store.store(2.5, forKey: "double")
    store.store("caf\u{E9} \"/\n", forKey: "text")
    store.store(Date(timeIntervalSinceReferenceDate: 1.5), forKey: "date")
    store.store(Data([0, 255]), forKey: "data")
    store.store([sample], forKey: "samples")

    let other = temporary.store()
    #expect(other.bool(forKey: "bool"))
    #expect(other.integer(forKey: "int") == -7)
    #expect(other.retrieve(type: Double.self, forKey: "double") == 2.5)
    #expect(other.retrieve(type: String.self, forKey: "text") == "caf\u{E9} \"/\n")
    #expect(
      other.retrieve(type: Date.self, forKey: "date") == Date(timeIntervalSinceReferenceDate: 1.5))
    #expect(other.retrieve(type: Data.self, forKey: "data") == Data([0, 255]))
    #expect(other.retrieve(type: [Sample].self, forKey: "samples") == [sample])
  }

  @Test func `takes an enum of strings for keys`() throws {
    store.store(3, forKey: Dial.volume)
    store.bulkStore(items: [Dial.theme: "dark", .count: nil])

    #expect(store.integer(forKey: Dial.volume) == 3)
    #expect(store.allKeys == ["theme", "volume"])
    #expect(store.contains(Dial.theme) && !store.contains(Dial.count))
  }

  @Test func `has no value for a key that was never stored`() throws {
    #expect(try store.retrieveOrThrow(type: Int.self, forKey: "x") == nil)
    #expect(!store.bool(forKey: "x"))
    #expect(store.integer(forKey: "x") == 0)
    #expect(store.allKeys == [])
  }

  @Test func `tells a value of another type from a damaged one`() throws {
    store.store("text", forKey: "key")
    #expect {
      try store.retrieveOrThrow(type: Int.self, forKey: "key")
    } throws: {
      if case DecodingError.typeMismatch = $0 { true } else { false }
    }

    try Data("{\"tex".utf8).write(to: store.fileURL(forKey: "key"))
    #expect {
      try store.retrieveOrThrow(type: String.self, forKey: "key")
    } throws: {
      if case DecodingError.dataCorrupted = $0 { true } else { false }
    }
    #expect(store.retrieve(type: String.self, forKey: "key") == nil)
  }

  @Test func `does not take a text for bytes that hold another value`() {
    store.store("MQ", forKey: "key")

    #expect(store.retrieve(type: Int.self, forKey: "key") == nil)
  }

  @Test func `reads a value that was stored as its own JSON`() throws {
    store.store(try JSONEncoder().encode(Sample()), forKey: "key")

    #expect(store.retrieve(type: Sample.self, forKey: "key") == Sample())
  }

  @Test func `removes by nil, by remove and by reset`() {
    for key in ["a", "b", "c", "d"] { store.store(1, forKey: key) }

    store.store(nil, forKey: "a")
    store.remove(key: "b")
    store.remove(key: "never")
    #expect(store.allKeys == ["c", "d"])
    store.reset()

    #expect(store.allKeys == [])
    #expect(temporary.valueFiles == [])
  }

  @Test func `adds, and a missing value becomes what is added`() {
    #expect(store.incrementInteger(forKey: "n") == 1)
    #expect(store.incrementInteger(forKey: "n", by: 5) == 6)
    #expect(store.incrementInteger(forKey: "n", by: -10) == -4)
    #expect(store.incrementInteger(forKey: "other", by: 0) == 0)
    #expect(store.integer(forKey: "n") == -4)
    #expect(store.contains("other"))
  }

  @Test func `does not add to what is no Int, nor over the largest one`() throws {
    store.store("text", forKey: "text")
    store.store(Int.max, forKey: "max")

    #expect(throws: DecodingError.self) { try store.incrementIntegerOrThrow(forKey: "text") }
    #expect(throws: StorageError.sumOutOfRange(key: "max")) {
      try store.incrementIntegerOrThrow(forKey: "max")
    }

    #expect(store.incrementInteger(forKey: "max") == .max)
    #expect(store.retrieve(type: String.self, forKey: "text") == "text")
  }

  @Test func `stores many at once, or those that are not there`() {
    store.store("old", forKey: "a")
    store.store("old", forKey: "b")

    store.bulkStore(
      items: ["a": "new", "b": nil, "c": 3] as [String: (any Codable)?],
      skipKeyIfAlreadyPresent: true)
    #expect(store.retrieve(type: String.self, forKey: "a") == "old")
    #expect(store.contains("b"))
    #expect(store.integer(forKey: "c") == 3)

    store.bulkStore(items: ["a": "new", "b": nil] as [String: (any Codable)?])
    #expect(store.retrieve(type: String.self, forKey: "a") == "new")
    #expect(!store.contains("b"))
  }

  @Test func `stores none of many when one can't be encoded`() {
    #expect(throws: Unwritable.Refusal.self) {
      try store.bulkStoreOrThrow(items: ["a": 1, "b": Unwritable()] as [String: (any Codable)?])
    }

    #expect(store.allKeys == [])
  }

  @Test func `does not write again what is there`() throws {
    store.store(Sample(), forKey: "key")
    let before = Disk.signature(store.fileURL(forKey: "key").path)

    store.store(Sample(), forKey: "key")

    #expect(Disk.signature(store.fileURL(forKey: "key").path) == before)
  }

  @Test func `leaves nothing beside its files`() {
    store.store(1, forKey: "a")
    store.bulkStore(items: ["b": 1, "c": 2])

    #expect(temporary.valueFiles == ["a.json", "b.json", "c.json"])
  }

  @Test func `is empty when its folder is gone, and makes it again`() throws {
    store.store(1, forKey: "a")
    try temporary.remove("store")

    #expect(try store.retrieveOrThrow(type: Int.self, forKey: "a") == nil)
    #expect(store.allKeys == [])
    try store.storeOrThrow(2, forKey: "a")
    #expect(store.integer(forKey: "a") == 2)
  }

  @Test func `is gone without a trace in memory`() {
    weak var gone: JSONFileStore?
    do {
      let store = temporary.store("other")
      store.store(1, forKey: "a")
      gone = store
    }

    // A notification that is under way may hold the store for a moment.
    for _ in 0..<6000 where gone != nil { Thread.sleep(forTimeInterval: 0.005) }
    #expect(gone == nil)
  }
}

@Suite struct `Keys of a store` {
  private let temporary = TemporaryFolder()

  @Test(arguments: `A file name`.keys + ["", "a\nb", "\0", "é"])
  func `are found again, whatever they hold`(_ key: String) throws {
    let store = temporary.store()

    try store.storeOrThrow(1, forKey: key)

    #expect(store.allKeys.map { Array($0.utf8) } == [Array(key.utf8)])
    #expect(temporary.store().integer(forKey: key) == 1)
    #expect(store.fileURL(forKey: key).lastPathComponent == temporary.valueFiles.first)
  }

  @Test func `are refused when they are too long for a file`() throws {
    let store = temporary.store()
    let key = String(repeating: "x", count: JSONFileStore.keyBytesMax + 1)

    #expect(throws: StorageError.keyTooLong(key: key)) { try store.storeOrThrow(1, forKey: key) }
    #expect(store.retrieve(type: Int.self, forKey: key) == nil)
    #expect(!FileManager.default.fileExists(atPath: store.fileURL(forKey: key).path))
    #expect(store.allKeys == [])
  }
}

@Suite struct `A store on a disk that refuses` {
  private let temporary = TemporaryFolder()

  @Test func `throws what the disk said, and keeps what it had`() throws {
    let store = temporary.store()
    store.store("old", forKey: "key")
    // A folder is in the place of the file that the store writes first.
    try temporary.makeFolder("store/.key.json.new/x")

    let error = #expect(throws: DiskError.self) { try store.storeOrThrow("new", forKey: "key") }

    #expect(error?.code == EISDIR)
    #expect(store.retrieve(type: String.self, forKey: "key") == "old")
    #expect(temporary.read("store/key.json") == "\"old\"")
  }

  @Test func `reports errors of calls that can't throw`() throws {
    let errors = Mutex<[String]>([])
    try temporary.write("", to: "store")

    let store = temporary.store { error in errors.withLock { $0.append("\(error)") } }
    store.store(1, forKey: "key")
    store.bulkStore(items: ["a": 1])
    #expect(store.incrementInteger(forKey: "key") == 0)

    #expect(errors.withLock { $0.count } >= 4)
    #expect(errors.withLock { $0.allSatisfy { $0.contains("store") } })
  }

  @Test func `throws for all keys of a step, and none has changed`() throws {
    let store = temporary.store()
    store.bulkStore(items: ["a": 1, "b": 1])
    try temporary.makeFolder("store/.b.json.new/x")

    #expect(throws: DiskError.self) { try store.bulkStoreOrThrow(items: ["a": 2, "b": 2, "c": 2]) }

    #expect(["a", "b", "c"].map { store.integer(forKey: $0) } == [1, 1, 0])
    try temporary.remove("store/.b.json.new")
    store.bulkStore(items: ["a": 3, "b": 3])
    #expect(["a", "b"].map { store.integer(forKey: $0) } == [3, 3])
  }

  @Test func `refuses to change a server's folder, and reads it`() throws {
    _ = temporary.store()
    let owner = try FolderLock(temporary.path("store/.timersync/lock"))
    try temporary.write("\"Tea\"", to: "store/key.json")
    let store = temporary.store()

    #expect(throws: FolderError.self) { try store.storeOrThrow(1, forKey: "key") }
    #expect(store.retrieve(type: String.self, forKey: "key") == "Tea")
    withExtendedLifetime(owner) {}
  }
}

@Suite struct `A step that a crash cut in two` {
  private let temporary = TemporaryFolder()

  /// Leaves a store as a process does that dies when the log has a step and only some of its files are written.
  private func crash(tearing torn: Int = 0) throws {
    // The store is not watched, because it would notice the crash itself.
    let store = JSONFileStore(
      directory: URL(fileURLWithPath: temporary.path("store")), isWatched: false)
    store.bulkStore(items: ["a": 1, "b": 1, "gone": 1])
    var log = try ChangeLog.open(temporary.path("store/.timersync/log")).log
    let changes = [
      FileChange(try #require(FileName(key: "a")), Data("2".utf8)),
      FileChange(try #require(FileName(key: "b")), Data("2".utf8)),
      FileChange(try #require(FileName(key: "gone")), nil),
    ]
    try log.append([FolderStep(changes)])
    if torn > 0 {
      let path = temporary.path("store/.timersync/log")
      try Data(contentsOf: URL(fileURLWithPath: path)).dropLast(torn).write(
        to: URL(fileURLWithPath: path))
    } else {
      try temporary.replace("store/a.json", by: Data("2".utf8))
    }
    try temporary.write("1", to: "store/.b.json.new")
  }

  private func values(_ store: JSONFileStore) -> [Int] {
    ["a", "b", "gone"].map { store.integer(forKey: $0) }
  }

  @Test func `is finished by the next read`() throws {
    try crash()

    #expect(values(temporary.store()) == [2, 2, 0])
    #expect(temporary.read("store/b.json") == "2")
    #expect(temporary.read("store/.timersync/log") == "")
  }

  @Test func `is finished by the next write`() throws {
    try crash()

    let store = temporary.store()
    #expect(store.incrementInteger(forKey: "b") == 3)
    #expect(values(store) == [2, 3, 0])
    #expect(store.allKeys == ["a", "b"])
  }

  @Test func `is visible as a whole to a reader that can't finish it`() throws {
    try crash()
    let owner = try FolderLock(temporary.path("store/.timersync/lock"))

    let store = temporary.store()

    #expect(values(store) == [2, 2, 0])
    #expect(store.allKeys == ["a", "b"])
    #expect(temporary.read("store/b.json") == "1")
    withExtendedLifetime(owner) {}
  }

  @Test(arguments: [1, 2, 20, 60])
  func `is undone when the log has only a part of it`(_ torn: Int) throws {
    try crash(tearing: torn)

    let store = temporary.store()
    #expect(values(store) == [1, 1, 1])
    store.store(5, forKey: "a")
    #expect(values(temporary.store()) == [5, 1, 1])
    #expect(!FileManager.default.fileExists(atPath: temporary.path("store/.b.json.new")))
  }
}

@Suite struct `Two stores on one folder` {
  private let temporary = TemporaryFolder()

  @Test func `count all additions of many threads`() async throws {
    let stores = [temporary.store(), temporary.store()]

    await withTaskGroup { group in
      for thread in 0..<8 {
        group.addTask {
          for _ in 0..<25 { stores[thread % 2].incrementInteger(forKey: "n") }
        }
      }
    }

    #expect(stores[0].integer(forKey: "n") == 200)
  }

  @Test func `see each other's steps whole`() async throws {
    let (writer, reader) = (temporary.store(), temporary.store())
    writer.bulkStore(items: ["a": 0, "b": 0, "c": 0])

    let steps = Task.detached {
      for step in 1...100 { writer.bulkStore(items: ["a": step, "b": step, "c": step]) }
    }
    var read = 0
    while read < 100 {
      let (first, last) = (reader.integer(forKey: "a"), reader.integer(forKey: "c"))
      // A value that is read later is never older.
      #expect(last >= first)
      let (third, fourth) = (reader.integer(forKey: "c"), reader.integer(forKey: "a"))
      #expect(fourth >= third)
      read = fourth
    }
    await steps.value
  }
}
