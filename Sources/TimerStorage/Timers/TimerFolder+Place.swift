import Foundation

/// The ways in which the folder at the path can differ from the one in use.
enum Displacement: Equatable {
  /// There is nothing at the path.
  case gone
  /// There is another folder.
  case otherFolder(FilePlace)
  /// The log, the lock or the folder of both is not there, or another one.
  case inside
}

/// A folder as it was seen at one moment.
struct FolderView: Equatable {
  let place: FilePlace
  let files: [FileName: FileSignature?]
}

extension TimerFolder {
  /// nil when all is where it was.
  var displacement: Displacement? {
    guard let place = Disk.place(path) else { return .gone }
    guard folder.place == place else { return .otherFolder(place) }
    guard isLockAtItsPath, folder.isLogAtItsPath else { return .inside }
    return nil
  }

  private var isLockAtItsPath: Bool {
    lock?.place.map { $0 == Disk.place(lockPath) } ?? false
  }

  /// Throws when the folder is not where it was.
  func checkPlace() throws(DiskError) {
    guard displacement != nil else { return }
    throw DiskError("find", path, code: ESTALE)
  }

  /// Why nothing can be changed, in words.
  var placeTrouble: StorageTrouble? {
    switch displacement {
    case nil: nil
    case .gone:
      StorageTrouble(
        reason: "the data folder is gone; mount or restore it",
        description: "there is no folder at \(path) any more")
    case .otherFolder:
      StorageTrouble(
        reason: "another folder is where the data folder was",
        description: "another folder is at \(path)")
    case .inside:
      StorageTrouble(
        reason: "the server's own files were removed from the data folder",
        description: "the log or the lock in \(folder.inside) was removed or replaced")
    }
  }

  /// Tries to make the folder usable again and probes it; throws the reason if that fails.
  ///
  /// Returns the contents of another folder that was put at the path and is now in use; nil if this one, or a new one
  /// with the same timers, is in use.
  mutating func recover() throws(StorageTrouble) -> Contents? {
    do throws(DiskError) { try finishStart() } catch { throw StorageTrouble(error) }
    switch displacement {
    case nil: break
    case .gone: throw placeTrouble ?? Self.unknownTrouble
    case .inside:
      // A process that owned the folder meanwhile may have changed all that is known here.
      if hadOtherOwner { return try switchToOther() }
      try recoverInside()
    case .otherFolder(let place):
      if let contents = try recover(from: place) { return contents }
    }
    prepareForEmptying()
    do throws(DiskError) { try folder.probe() } catch { throw StorageTrouble(error) }
    return nil
  }

  private static let unknownTrouble = StorageTrouble(
    reason: "the data folder was moved", description: "the data folder was moved")

  // MARK: The same folder

  /// True if another server used the folder since the lock was removed: another process wrote its id into the lock, the
  /// log has other entries, or the server's record was changed.
  private var hadOtherOwner: Bool {
    guard !isLockAtItsPath else { return false }
    if let owner = FolderLock.owner(lockPath), owner != ProcessInfo.processInfo.processIdentifier {
      return true
    }
    return folder.isLogChangedByOthers
      || folder.hasFile(ServerRecord.fileName) && folder.isChangedByOthers(ServerRecord.fileName)
  }

  /// Creates again what was removed from the folder. The next checkpoint writes everything that the log had.
  private mutating func recoverInside() throws(StorageTrouble) {
    do throws(FolderError) {
      try makeLock()
      do throws(DiskError) {
        try keepHistory()
        guard !folder.isLogAtItsPath else { return }
        putAll()
        try folder.replaceLog()
        try folder.checkpoint()
        try folder.syncNames()
      } catch {
        throw .disk(error)
      }
    } catch {
      throw StorageTrouble(error)
    }
  }

  private mutating func makeLock() throws(FolderError) {
    guard !isLockAtItsPath else { return }
    do throws(DiskError) { try Disk.makeFolders(folder.inside) } catch { throw .disk(error) }
    let lock = try FolderLock(lockPath)
    do throws(DiskError) { try lock.nameOwner(lockPath) } catch { throw .disk(error) }
    self.lock = lock
  }

  private func keepHistory() throws(DiskError) {
    let contents = try? Disk.read(historyPath)
    if contents.map({ HistoryFile.found($0, at: historyPath) }) != .own(history) {
      try HistoryFile.write(history, to: historyPath)
    }
  }

  /// Has every file written as it is known here.
  private mutating func putAll() {
    for (id, kept) in lastRecords {
      let name = StoredChange.fileName(of: id)
      if !folder.isPendingWrite(name) { folder.put(FileChange(name, kept.record.contents())) }
    }
    if !folder.has(ServerRecord.fileName) {
      folder.put(FileChange(ServerRecord.fileName, server.contents()))
    }
    if !idempotencyFile.requests.isEmpty {
      folder.putUnlogged(
        FileChange(IdempotencyFile.fileName, idempotencyFile.contents(on: clock)))
    }
  }

  // MARK: Another folder

  /// Waits until the other folder stops changing: it may be one that is being copied.
  private mutating func recover(from place: FilePlace) throws(StorageTrouble) -> Contents? {
    let view: FolderView
    do throws(FolderError) {
      // A folder that another server uses changes all the time, and the error has to name that server.
      if Disk.place(lockPath) != nil { _ = try FolderLock(sharedAt: lockPath) }
      do throws(DiskError) { view = try Self.view(of: path, place) } catch { throw .disk(error) }
    } catch {
      throw StorageTrouble(error)
    }
    guard other == view else {
      other = view
      throw placeTrouble ?? Self.unknownTrouble
    }
    if Self.holdsData(view, path) { return try switchToOther() }
    guard place.device == folder.device else {
      throw StorageTrouble(
        reason: "the data folder is empty, and on another disk; mount its disk",
        description: "\(path) is an empty folder on another disk")
    }
    try refill()
    return nil
  }

  private static func view(of path: String, _ place: FilePlace) throws(DiskError) -> FolderView {
    var files: [FileName: FileSignature?] = [:]
    for name in try Disk.names(in: path) {
      files.updateValue(Disk.signature(path + "/" + name), forKey: FileName(name))
    }
    let inside = path + "/" + JSONFolder.insideName
    for name in (try? Disk.names(in: inside)) ?? [] {
      let file = FileName(JSONFolder.insideName + "/" + name)
      files.updateValue(Disk.signature(inside + "/" + name), forKey: file)
    }
    return FolderView(place: place, files: files)
  }

  /// Returns whether the folder was used by a server, or holds a timer.
  private static func holdsData(_ view: FolderView, _ path: String) -> Bool {
    let ours = ["log", "lock", "history"].map { FileName(JSONFolder.insideName + "/" + $0) }
    if ours.contains(where: { view.files[$0] != nil }) { return true }
    if view.files[ServerRecord.fileName] != nil { return true }
    return view.files.keys.contains { name in
      let file = path + "/" + name.text
      guard name.isValue, let size = Disk.size(file), size <= bytesMax,
        let contents = try? Disk.read(file)
      else { return false }
      return TimerFileMark.isOurs(contents, key: name.key)
    }
  }

  /// Loads the other folder as a start does, and uses it from here on.
  private mutating func switchToOther() throws(StorageTrouble) -> Contents {
    var other: TimerFolder
    let contents: Contents
    do throws(FolderError) {
      other = try TimerFolder(path: path, clock: clock, isRestored: true)
      contents = try other.load()
    } catch {
      throw StorageTrouble(error)
    }
    if let trouble = other.startTrouble { throw trouble }
    self = other
    return contents
  }

  /// Writes everything in memory into an empty folder, and uses it from here on.
  private mutating func refill() throws(StorageTrouble) {
    do throws(FolderError) {
      let inside = path + "/" + JSONFolder.insideName
      do throws(DiskError) { try Disk.makeFolders(inside) } catch { throw .disk(error) }
      let lock = try FolderLock(inside + "/lock")
      do throws(DiskError) {
        try lock.nameOwner(inside + "/lock")
        try keepHistory()
        (folder, _) = try JSONFolder.read(path)
        self.lock = lock
        folder.preservesChangesByOthers = true
        (blocked, invalidEdits) = ([:], [:])
        for name in try folder.fileNames() {
          // It was checked not to be a timer's file.
          block(name, .foreign("it was in the folder before"))
        }
        putAll()
        try folder.checkpoint()
        try folder.syncNames()
      } catch {
        throw .disk(error)
      }
    } catch {
      throw StorageTrouble(error)
    }
  }
}
