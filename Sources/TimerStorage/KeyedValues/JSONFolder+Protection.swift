import Foundation

/// Files that are left as they are for now, since they hold what others wrote.
extension JSONFolder {
  /// Protects a file from being replaced: its next contents wait in the log. `contents` is what it should have held
  /// until now, and doesn't any more.
  mutating func protect(_ fileName: FileName, keeping contents: Data? = nil) {
    protectedFiles.insert(fileName)
    guard let contents, unwritten[fileName] == nil else { return }
    unwritten.updateValue(contents, forKey: fileName)
    isLogIncomplete = true
  }

  /// The file may be replaced again.
  mutating func unprotect(_ fileName: FileName) {
    protectedFiles.remove(fileName)
  }

  /// Returns whether the file is left as it is for now.
  func isProtected(_ fileName: FileName) -> Bool {
    protectedFiles.contains(fileName)
  }

  /// Files that were left as they were, and are gone.
  var namesProtectedAndGone: [FileName] { protectedFiles.filter { !hasFile($0) } }

  /// Records that a protected file with an unsaved edit stays on the disk although the log has other contents for it:
  /// the log's next entry contains its hash, so that a start recognizes it.
  mutating func recordKept(_ fileNames: [FileName]) {
    for name in fileNames where protectedFiles.contains(name) && keptWhenReplaced.contains(name) {
      if let hash = known[name]?.hash, hash != 0 { seen.record(hash, of: name) }
    }
  }

  /// Moves a file to quarantine, instead of discarding it, when it is replaced or removed.
  mutating func keepWhenReplaced(_ fileName: FileName) {
    keptWhenReplaced.insert(fileName)
  }

  /// Makes the file an ordinary one again: the contents that the log kept for it are dropped.
  mutating func stopKeeping(_ fileName: FileName) {
    guard keptWhenReplaced.remove(fileName) != nil, protectedFiles.remove(fileName) != nil else {
      return
    }
    unwritten.removeValue(forKey: fileName)
  }

  /// Returns and clears the files that were moved to quarantine when they were replaced, with their new paths.
  mutating func drainQuarantined() -> [(fileName: FileName, place: String)] {
    defer { putAside = [] }
    return putAside
  }

  /// Returns and clears the names of files that were not written because someone else has changed them.
  mutating func drainContested() -> [FileName] {
    defer { contested = [] }
    return Array(contested)
  }
}
