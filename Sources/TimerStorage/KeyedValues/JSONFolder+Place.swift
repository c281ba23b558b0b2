import Foundation

/// Whether the folder and its log are still at their paths.
extension JSONFolder {
  /// The folder's identity; nil when it was removed.
  var place: FilePlace? { Disk.place(of: directory) }

  /// True if the path still leads to this folder.
  var isAtItsPath: Bool { place != nil && Disk.place(path) == place }

  /// True if the log's path still leads to this log, or if the log does not exist yet.
  var isLogAtItsPath: Bool {
    guard let place = log.place else { return log.isInDoubt && !log.hasFile }
    return Disk.place(inside + "/log") == place
  }

  /// True if the log's size differs from what this process left; false if another log is at its path.
  var isLogChangedByOthers: Bool {
    guard !log.isInDoubt, isLogAtItsPath else { return false }
    return log.isChangedByOthers
  }

  /// Throws when the folder or its log is no longer the one at its path.
  func checkPlace() throws(DiskError) {
    guard isAtItsPath else { throw DiskError("find", path, code: ESTALE) }
    guard isLogAtItsPath else { throw DiskError("find", inside + "/log", code: ESTALE) }
  }

  /// Creates another log, since someone has removed this one; a log in its place is moved to quarantine. The next
  /// checkpoint writes everything that only the old log had.
  mutating func replaceLog() throws(DiskError) {
    try Disk.makeFolders(inside)
    let other = inside + "/log"
    if let signature = Disk.signature(other), signature.size > 0 {
      try Disk.rename(other, to: placeInQuarantine(FileName("log")))
    }
    log = ChangeLog(at: other)
    unwritten.merge(unsynced) { newer, _ in newer }
  }
}
