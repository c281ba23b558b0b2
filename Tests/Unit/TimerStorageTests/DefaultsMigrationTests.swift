import Foundation
import Testing

@testable import TimerStorage

@Suite final class `A migration from UserDefaults` {
  private let temporary = TemporaryFolder()
  private let suite = "timersync-\(UUID().uuidString)"
  private let defaults: UserDefaults
  private let store: JSONFileStore

  init() throws {
    defaults = try #require(UserDefaults(suiteName: suite))
    store = JSONFileStore(insideDirectory: URL(fileURLWithPath: temporary.path), name: "store")
  }

  deinit {
    defaults.removePersistentDomain(forName: suite)
    _ = defaults.synchronize()
    let file = FileManager.default.homeDirectoryForCurrentUser
      .appendingPathComponent(".config/\(suite).plist")
    try? FileManager.default.removeItem(at: file)
  }

  @discardableResult
  private func migrate(
    _ nonBoolKeys: Set<String> = [], bools: Set<String> = [], overwriting: Bool = false
  ) -> JSONFileStore.Migration {
    store.migrate(
      userDefaults: defaults, nonBoolKeys: nonBoolKeys, boolKeys: bools,
      overwriteIfConflict: overwriting)
  }

  private func value<T: Codable>(_ key: String, _ type: T.Type = T.self) -> T? {
    store.retrieve(type: type, forKey: key)
  }

  @Test func `takes values of every type`() {
    defaults.set(true, forKey: "bool")
    defaults.set(1337, forKey: "int")
    defaults.set(6.0, forKey: "whole")
    defaults.set(2.5, forKey: "double")
    defaults.set("tea", forKey: "text")
    defaults.set(Date(timeIntervalSinceReferenceDate: 9.25), forKey: "date")
    defaults.set(Data([1, 0]), forKey: "data")

    let migration = migrate(["int", "whole", "double", "text", "date", "data"], bools: ["bool"])

    #expect(migration.skipped == [:])
    #expect(
      migration.stored == ["bool", "data", "date", "double", "int", "text", "whole"])
    #expect(store.bool(forKey: "bool"))
    #expect(value("int") == 1337)
    #expect(value("whole") == 6.0)
    #expect(value("double") == 2.5)
    #expect(value("text") == "tea")
    #expect(value("date") == Date(timeIntervalSinceReferenceDate: 9.25))
    #expect(value("data") == Data([1, 0]))
  }

  @Test func `takes arrays and dictionaries of every type`() {
    let date = Date(timeIntervalSinceReferenceDate: 9.25)
    defaults.set([true, false], forKey: "bools")
    defaults.set(["x": true], forKey: "boolTable")
    defaults.set([1, 2], forKey: "ints")
    defaults.set([1, 2.5] as [Any], forKey: "numbers")
    defaults.set(["a", ""], forKey: "texts")
    defaults.set([date], forKey: "dates")
    defaults.set([Data([1])], forKey: "datas")
    defaults.set(["k": 1], forKey: "intTable")
    defaults.set(["k": "v"], forKey: "textTable")
    defaults.set(["k": date], forKey: "dateTable")
    defaults.set([String](), forKey: "none")

    let migration = migrate(
      [
        "ints", "numbers", "texts", "dates", "datas", "intTable", "textTable", "dateTable", "none",
      ], bools: ["bools", "boolTable"])

    #expect(migration.skipped == [:])
    #expect(value("bools") == [true, false])
    #expect(value("boolTable") == ["x": true])
    #expect(value("ints") == [1, 2])
    #expect(value("numbers") == [1, 2.5])
    #expect(value("texts") == ["a", ""])
    #expect(value("dates") == [date])
    #expect(value("datas") == [Data([1])])
    #expect(value("intTable") == ["k": 1])
    #expect(value("textTable") == ["k": "v"])
    #expect(value("dateTable") == ["k": date])
    #expect(value("none", [String].self) == [])
  }

  @Test func `reports each key that it skips, and why`() {
    defaults.set("text", forKey: "no bool")
    defaults.set(2, forKey: "two")
    defaults.set([1, "x"] as [Any], forKey: "mixed")
    defaults.set(["a": 1, "b": "x"] as [String: Any], forKey: "mixed table")
    defaults.set([[1]], forKey: "nested")
    defaults.set(["k": ["x": 1]], forKey: "nested table")
    defaults.set([[true]], forKey: "nested bools")
    defaults.set(Double.infinity, forKey: "infinite")
    let long = String(repeating: "x", count: 200)
    defaults.set(1, forKey: long)

    let migration = migrate(
      ["missing", "mixed", "mixed table", "nested", "nested table", "infinite", long],
      bools: ["no bool", "two", "nested bools"])

    #expect(migration.stored == [])
    #expect(store.allKeys == [])
    let skipped = migration.skipped
    #expect(skipped["missing"] == .missing)
    #expect(skipped["no bool"] == .notBool)
    #expect(skipped["two"] == .notBool)
    #expect(skipped["mixed"] == .mixedTypes)
    #expect(skipped["mixed table"] == .mixedTypes)
    #expect(skipped["nested"] == .nested)
    #expect(skipped["nested table"] == .nested)
    #expect(skipped["nested bools"] == .nested)
    #expect(skipped["infinite"]?.description.contains("JSON") == true)
    #expect(skipped[long]?.description.contains("bytes") == true)
    #expect(skipped.count == 10)
  }

  @Test func `replaces what the store has only when told to`() {
    store.store("mine", forKey: "key")
    defaults.set("theirs", forKey: "key")
    defaults.set(1, forKey: "other")

    #expect(migrate(["key", "other"]).skipped == ["key": .alreadyPresent])
    #expect(value("key") == "mine")
    #expect(store.integer(forKey: "other") == 1)
    #expect(migrate(["key"], overwriting: true).stored == ["key"])
    #expect(value("key") == "theirs")
  }

  @Test func `leaves UserDefaults as they were`() {
    defaults.set([1, 2], forKey: "list")
    let before = defaults.dictionaryRepresentation().keys.sorted()

    migrate(["list", "missing"])

    #expect(defaults.dictionaryRepresentation().keys.sorted() == before)
    #expect(defaults.array(forKey: "list")?.count == 2)
  }

  @Test func `reads what was written as JSON of a value`() throws {
    defaults.set(try JSONEncoder().encode(["a": [1]]), forKey: "key")

    migrate(["key"])

    #expect(value("key") == ["a": [1]])
  }

  @Test func `reports the disk's error for every key`() throws {
    defaults.set(1, forKey: "a")
    defaults.set(2, forKey: "b")
    try temporary.makeFolder("store/.b.json.new/x")

    let migration = migrate(["a", "b"])

    #expect(migration.stored == [])
    #expect(migration.skipped.count == 2)
    for reason in migration.skipped.values {
      guard case .disk = reason else {
        Issue.record("\(reason)")
        continue
      }
    }
    #expect(store.allKeys == [])
  }
}
