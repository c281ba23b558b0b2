import Foundation
import SharedAlgorithms

/// Hashes of all contents that value files may have had since the last sync: a power cut may leave any of them.
///
/// Modification times can't tell whose a file is: a sync need not keep the time, a new mode changes it, and clocks are
/// set back.
struct SeenContents {
  /// True if a file without hashes did not exist.
  var isComplete = false
  private var hashes: [FileName: [UInt64]] = [:]

  /// The most hashes of one file, the earliest and the latest; only a file that others write all the time has as many.
  private static let hashesMax = 16

  /// Never 0, which stands for no file.
  static func hash(_ contents: Data) -> UInt64 {
    // As an array, which is walked far faster than `Data`.
    max(1, FNV1a(Array(contents)).value)
  }

  /// Records an entry of the log for a file. Returns the file's possible contents before that, if they are known.
  mutating func replace(_ change: FileChange) -> [UInt64]? {
    guard change.fileName.isValue else { return nil }
    var was = hashes[change.fileName] ?? (isComplete ? [0] : nil)
    if was?.isEmpty == true { was = nil }
    hashes[change.fileName] = [change.contents.map(Self.hash) ?? 0]
    return was
  }

  /// The state of the steps' files, to restore it if the log does not accept the steps.
  func former(of steps: [FolderStep]) -> Former {
    var former = Former()
    for change in steps.flatMap(\.changes) where change.fileName.isValue {
      former.hashes.updateValue(hashes[change.fileName], forKey: change.fileName)
    }
    return former
  }

  /// The steps are not to count: their files hold what they held before.
  mutating func restore(_ former: Former) {
    for (fileName, seen) in former.hashes { hashes[fileName] = seen }
  }

  /// The recorded state of some files.
  struct Former {
    fileprivate var hashes: [FileName: [UInt64]?] = [:]
  }

  /// The file was read, or is to be this without an entry.
  mutating func record(_ contents: Data?, of fileName: FileName) {
    record(contents.map(Self.hash) ?? 0, of: fileName)
  }

  /// Records that a file exists and can't be read, so that its contents are unknown.
  mutating func recordUnreadable(_ fileName: FileName) {
    if fileName.isValue { hashes[fileName] = [] }
  }

  /// The same by its hash.
  mutating func record(_ hash: UInt64, of fileName: FileName) {
    guard fileName.isValue else { return }
    var seen = hashes[fileName] ?? []
    guard seen.last != hash else { return }
    if seen.count == Self.hashesMax { seen.remove(at: Self.hashesMax / 2) }
    hashes[fileName] = seen + [hash]
  }

  /// All files were synced: nothing older is on the disk any more.
  mutating func recordSync() {
    for (fileName, seen) in hashes where seen.count > 1 { hashes[fileName] = seen.suffix(1) }
    hashes = hashes.filter { $0.value != [0] || !isComplete }
  }
}
