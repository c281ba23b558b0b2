import Foundation

/// A folder for one test, which is removed with it.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.path + "/timersync-" + UUID().uuidString
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      preconditionFailure("a test needs a folder: \(error)")
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func path(_ name: String) -> String { path + "/" + name }

  func write(_ contents: String, to name: String) throws {
    try Data(contents.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  /// Puts a whole file in the place of the old one, as a careful editor does.
  func replace(_ name: String, by contents: Data) throws {
    try contents.write(to: URL(fileURLWithPath: path(name)), options: .atomic)
  }

  /// nil when there is no such file.
  func read(_ name: String) -> String? {
    (try? Data(contentsOf: URL(fileURLWithPath: path(name)))).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: path(name), withIntermediateDirectories: true)
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path(name))
  }

  /// Gives the data folder a log that can't be written, once: a store then replaces it by a good one.
  func breakLog() throws {
    try makeFolder(".timersync")
    try FileManager.default.createSymbolicLink(
      atPath: path(".timersync/log"), withDestinationPath: "/dev/null")
  }

  /// All names in the folder, sorted.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}
