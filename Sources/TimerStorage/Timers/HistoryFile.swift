import Foundation

/// The name of a data folder's history, which distinguishes a folder from a copy of it that has changed since.
///
/// The file holds its own inode and time: a copy of the folder has another inode. A copy in its place has another time,
/// or its inode changed long after that. Such a folder begins a history of its own.
struct HistoryFile: Codable, Equatable {
  var version = Self.currentVersion
  var history: String
  var inode: UInt64
  /// When it was written, in nanoseconds since 1970; nil in a file of an older server.
  var modified: Int64?

  static let currentVersion = 1

  /// The state of a folder's history file.
  enum Found: Equatable {
    /// The folder is from before there were histories, or new.
    case none
    /// The file is the one that the server wrote: its times are those in it.
    case own(String)
    /// The file is a copy, or damaged.
    case copiedOrDamaged
  }

  /// A new, unpredictable name.
  static func newName() -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<24).map { _ in letters[Int.random(in: letters.indices)] })
  }

  /// The version of a file that only a newer program can read; nil for any other.
  static func newerVersion(_ contents: Data) -> Int? {
    let version = try? JSONDecoder().decode(TimerFileVersion.self, from: contents).version
    return version.flatMap { $0 > currentVersion ? $0 : nil }
  }

  static func found(_ contents: Data, at path: String) -> Found {
    guard let file = try? JSONDecoder().decode(HistoryFile.self, from: contents),
      file.inode == Disk.signature(path)?.inode, file.history.utf8.count >= 16
    else { return .copiedOrDamaged }
    if let modified = file.modified {
      guard let times = Disk.times(path), times.modified == modified, isNear(times) else {
        return .copiedOrDamaged
      }
    }
    return .own(file.history)
  }

  /// A copy that keeps the time of the contents is made later than the file was.
  private static func isNear(_ times: (modified: Int64, changed: Int64)) -> Bool {
    times.changed - times.modified <= 2_000_000_000
  }

  /// Writes the file, for good.
  ///
  /// A disk that takes long over it, or keeps times only roughly, would make it look like a copy: then it goes without
  /// its time.
  static func write(_ history: String, to path: String) throws(DiskError) {
    for _ in 0..<3 {
      try write(history, to: path, withTime: true)
      let contents = try? Disk.read(path)
      if contents.map({ found($0, at: path) }) == .own(history) { return }
    }
    try write(history, to: path, withTime: false)
  }

  private static var microseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

  private static func write(
    _ history: String, to path: String, withTime: Bool
  ) throws(DiskError) {
    let beside = path + StagedFile.ending
    try Disk.remove(beside)
    let file = try Disk.write(Data(), to: beside)
    guard let inode = Disk.signature(beside)?.inode else {
      throw DiskError("stat", beside, code: ENOENT)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    // In microseconds, which file systems keep.
    let now = microseconds * 1_000
    let modified = withTime ? now : nil
    let contents: Data
    do {
      contents = try encoder.encode(
        HistoryFile(history: history, inode: inode, modified: modified))
    } catch {
      preconditionFailure("names and numbers can always be encoded: \(error)")
    }
    try Disk.write(contents, to: file, at: 0, beside)
    if let modified { try Disk.setModified(file, modified, beside) }
    try Disk.sync(file, beside)
    // Another try is made before this one has the name, since a start might find it.
    if withTime, abs(microseconds * 1_000 - now) > 1_000_000_000 { return }
    try Disk.rename(beside, to: path)
    try Disk.syncFolder(Disk.parent(of: path))
  }
}
