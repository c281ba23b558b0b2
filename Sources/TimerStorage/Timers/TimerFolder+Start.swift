import Foundation
public import TimerCore

/// Opens a folder and acquires it; a start that fails leaves nothing behind.
extension TimerFolder {
  /// Makes the folder where there is none, and owns it from then on; `clock` is what the clocks say now.
  public init(path: String, clock: ClockReading) throws(FolderError) {
    try self.init(path: path, clock: clock, isRestored: false)
  }

  /// `isRestored` is true if it replaces another folder, whose changes were answered.
  init(path: String, clock: ClockReading, isRestored: Bool) throws(FolderError) {
    let start = StartWork(rollback: StartRollback(path))
    do throws(FolderError) {
      try self.init(reading: path, clock: clock, start, isRestored: isRestored)
    } catch {
      start.rollback.rollBack()
      throw error
    }
  }

  private init(
    reading path: String, clock: ClockReading, _ work: StartWork, isRestored: Bool
  ) throws(FolderError) {
    var start = work
    let inside = path + "/" + JSONFolder.insideName
    let found: ChangeLog.Found
    var lock: FolderLock?
    try start.rollback.makeFolders(path)
    // A lock that is there already is taken first; to make one is to change the folder.
    if Disk.place(inside + "/lock") != nil { lock = try start.rollback.lock() }
    do throws(DiskError) { (folder, found) = try JSONFolder.read(path) } catch {
      throw .disk(error)
    }
    if let version = found.newerVersion {
      throw .newer(file: JSONFolder.insideName + "/log", version: version)
    }
    try Self.checkVersions(&folder)
    self.clock = clock
    idempotencyFile = IdempotencyFile()
    let origin = try Self.history(inside + "/history")
    if case .own(let name) = origin, !isRestored, found.damaged == nil {
      history = name
    } else {
      history = HistoryFile.newName()
      start.writesHistory = true
    }
    start.skipsRevisions = isRestored || found.damaged != nil || origin == .copiedOrDamaged
    start.damagedLog = found.damaged
    if found.damaged != nil {
      start.faults.append(
        FileFault(
          fileName: FileName(JSONFolder.insideName + "/log"),
          fault: .malformed("entries of the log are damaged; the others were kept")))
    }
    if origin == .copiedOrDamaged {
      start.remarks.append(
        "the data folder is a copy of another one, or its history is damaged: it gets a new history"
      )
    }
    self.lock = lock
    self.start = start
    try replay(found, isOwn: origin != .copiedOrDamaged && origin != .none)
    try restoreIdempotencyFile(found.steps)
    // Where there is nothing to read, nothing can be of a newer version.
    do throws(DiskError) {
      guard try folder.fileNames().isEmpty else { return }
    } catch {
      throw .disk(error)
    }
    try acquireLock()
    // A start that failed beside this one may have taken back the folder that was read here.
    guard folder.isAtItsPath else { throw .disk(DiskError("find", path, code: ESTALE)) }
  }

  /// Acquires the lock if this start does not have it yet.
  mutating func acquireLock() throws(FolderError) {
    guard lock == nil else { return }
    let rollback = start?.rollback ?? StartRollback(path)
    try rollback.makeFolders(folder.inside)
    let lock = try rollback.lock()
    // Best effort here: it is done again with the rest.
    try? lock.nameOwner(lockPath)
    self.lock = lock
  }

  private static func history(_ path: String) throws(FolderError) -> HistoryFile.Found {
    let contents: Data
    do throws(DiskError) { contents = try Disk.read(path) } catch {
      if error.code == ENOENT || error.code == ENOTDIR { return .none }
      throw .disk(error)
    }
    if let version = HistoryFile.newerVersion(contents) {
      throw .newer(file: JSONFolder.insideName + "/history", version: version)
    }
    return HistoryFile.found(contents, at: path)
  }

  /// Throws if one of the server's own files is of a newer version, whatever the log has for it.
  private static func checkVersions(_ folder: inout JSONFolder) throws(FolderError) {
    for (name, known) in [
      (ServerRecord.fileName, ServerRecord.currentVersion),
      (IdempotencyFile.fileName, IdempotencyFile.version),
    ] where folder.hasFile(name) {
      let contents: Data
      do throws(DiskError) { contents = try folder.readFile(name) } catch {
        // The file only holds the last minutes, and a start does not need it.
        if name == IdempotencyFile.fileName { continue }
        throw .disk(error)
      }
      try checkVersion(contents, known, name)
    }
  }

  static func checkVersion(
    _ contents: Data, _ known: Int, _ fileName: FileName
  ) throws(FolderError) {
    let version = try? JSONDecoder().decode(TimerFileVersion.self, from: contents).version
    guard let version, version > known else { return }
    throw .newer(file: fileName.text, version: version)
  }
}
