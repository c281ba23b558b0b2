import Foundation
import Testing
import TimerStorage

// MARK: article

enum Setting: String, StorageKey {
  case volume, theme, launches
}

func remember(in folder: URL) async throws {
  let store = JSONFileStore(insideDirectory: folder, name: "settings")
  let changes = Task { [changes = store.changes] in
    for await change in changes { print(change.key, change.origin) }
  }

  store.incrementInteger(forKey: Setting.launches)  // of all processes, none is lost
  try store.storeOrThrow(0.5, forKey: Setting.volume)  // returns when it is on the disk
  store.bulkStore(items: [Setting.theme: "dark", .volume: nil])  // in one step
  let theme = store.retrieve(type: String.self, forKey: Setting.theme)  // "dark"

  let migration = store.migrate(
    userDefaults: .standard, nonBoolKeys: ["name"], boolKeys: ["sound"],
    overwriteIfConflict: false)
  for (key, reason) in migration.skipped { print(key, reason) }
  print(theme ?? "light", store.fileURL(forKey: Setting.theme).path)
  changes.cancel()
}

// MARK: end

@Suite struct `The example of a store in the article` {
  @Test func `is the one that is compiled here`() throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let example = source.components(separatedBy: "\n// MARK: article\n\n").dropFirst().first?
      .components(separatedBy: "\n// MARK: end").first
    let article = try String(contentsOf: librariesArticle(), encoding: .utf8)

    #expect(article.contains("import TimerStorage\n\n\(try #require(example))```"))
  }

  @Test func `runs`() async throws {
    let temporary = TemporaryFolder()
    try await remember(in: URL(fileURLWithPath: temporary.path))

    #expect(temporary.read("settings/theme.json") == "\"dark\"")
  }
}

/// The article, from the folder of the package.
private func librariesArticle() -> URL {
  let files = FileManager.default
  var folder = URL(fileURLWithPath: #filePath)
  while folder.path != "/",
    !files.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
  {
    folder.deleteLastPathComponent()
  }
  return folder.appendingPathComponent(
    "Sources/PersistableTimer/PersistableTimer.docc/Libraries.md")
}
