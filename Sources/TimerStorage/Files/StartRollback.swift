import Foundation

/// Undoes what a start created if the start fails.
///
/// Several servers may be started on one folder at once: only files of this start are removed, and only while it has
/// the lock.
final class StartRollback {
  private let inside: String
  /// Folders that this start created, the outermost first.
  private var folders: [String] = []
  /// The lock that is held.
  private var heldLock: FolderLock?
  /// Files inside that were not there before, the lock the last of them.
  private var files: [String] = []

  init(_ path: String) {
    inside = path + "/" + JSONFolder.insideName
  }

  func makeFolders(_ path: String) throws(FolderError) {
    do throws(DiskError) { try Disk.makeFolders(path, made: &folders) } catch {
      throw .disk(error)
    }
  }

  /// Takes the folder's lock, and makes its file where there is none.
  func lock() throws(FolderError) -> FolderLock {
    let missing = ["log", "history", "lock"].map { inside + "/" + $0 }
      .filter { Disk.place($0) == nil }
    let lock = try FolderLock(inside + "/lock")
    (heldLock, files) = (lock, missing)
    return lock
  }

  /// Takes back what was made.
  func rollBack() {
    if let heldLock, let place = heldLock.place, place == Disk.place(inside + "/lock") {
      // The lock, as the last, keeps others away from the rest.
      for file in files { try? Disk.remove(file) }
    }
    Disk.removeEmptyFolders(folders)
  }
}
