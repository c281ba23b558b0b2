import Foundation
import Synchronization

/// A folder of small files that several processes and threads change, each step complete and durable before the next
/// one begins.
///
/// A writer holds the folder's lock exclusively, a reader shares it. The log is empty whenever no writer holds the
/// lock: a process that finds entries knows that another one died in the middle of a step, and finishes that step
/// first.
final class SharedFolder: Sendable {
  let path: String
  private let internalPath: String
  private let state = Mutex(State())

  private struct State {
    /// True if temporary files of dead processes were removed.
    var isCleaned = false
    /// True if the folder's own name is known to be on the disk.
    var isMade = false
    /// Files that may not be on the disk as they are: a sync failed, and what was there could not be put back.
    var uncertain: Set<FileName> = []
  }

  init(path: String) {
    self.path = path
    internalPath = path + "/" + JSONFolder.insideName
  }

  /// Makes the folder where there is none, for good.
  ///
  /// Another process may have made it and failed to sync it, so each makes sure of it once.
  func make() throws(DiskError) {
    if state.withLock({ $0.isMade }), Disk.place(internalPath) != nil { return }
    let above = try Disk.makeFolders(internalPath)
    try Disk.syncFolder(path)
    for folder in above + [Disk.parent(of: path)] where folder != path {
      do { try Disk.syncFolder(folder) } catch {
        // One that we must not look into is one that we have made nothing in.
        guard error.operation == "open", !above.contains(folder) else { throw error }
      }
    }
    state.withLock { $0.isMade = true }
  }

  // MARK: Reading

  /// The contents while the lock is held. Must not be kept.
  struct Contents {
    fileprivate let path: String
    /// Changes that are in the log and may not be in their files.
    fileprivate var logged: [FileName: Data?] = [:]

    /// A file's bytes; nil when there is no such file.
    func read(_ fileName: FileName) throws(DiskError) -> Data? {
      if let contents = logged[fileName] { return contents }
      do { return try Disk.read(path + "/" + fileName.text) } catch {
        if error.code == ENOENT { return nil }
        throw error
      }
    }

    func has(_ fileName: FileName) -> Bool {
      if let contents = logged[fileName] { return contents != nil }
      return Disk.signature(path + "/" + fileName.text) != nil
    }

    /// The names of the value files, sorted.
    func fileNames() throws(DiskError) -> [FileName] {
      guard Disk.signature(path) != nil else { return [] }
      let files = try Disk.names(in: path).map { FileName($0) }
      return Set(files).union(logged.keys).filter { $0.isValue && has($0) }.sorted()
    }
  }

  /// Reads without concurrent changes.
  func read<Result>(_ body: (Contents) throws -> Result) throws -> Result {
    guard Disk.signature(path) != nil else { return try body(Contents(path: path)) }
    if let result = try readIfLogIsEmpty(body) { return result }
    // A step was not finished. If it can't be, as in a folder without write permission or one that a server owns, the
    // log says what the files will hold.
    try? change { _ in (FolderStep([]), ()) }
    return try locked(alone: false) {
      try body(Contents(path: path, logged: logged()))
    }
  }

  private func logged() throws(DiskError) -> [FileName: Data?] {
    guard !isLogEmpty else { return [:] }
    let changes = try ChangeLog.steps(in: logPath).flatMap(\.changes)
    return Dictionary(changes.map { ($0.fileName, $0.contents) }) { $1 }
  }

  /// nil when a step has to be finished first.
  private func readIfLogIsEmpty<Result>(_ body: (Contents) throws -> Result) throws -> Result? {
    try locked(alone: false) {
      isLogEmpty ? try body(Contents(path: path)) : nil
    }
  }

  private var isLogEmpty: Bool {
    Disk.signature(logPath).map { $0.size == 0 } ?? true
  }

  private var logPath: String { internalPath + "/log" }

  // MARK: Changing

  /// Decides on a step without concurrent reads or changes, and returns once the step is on the disk; where it throws,
  /// nothing has changed. `committed` is called before the lock is released.
  func change<Result>(
    committed: (FolderStep) -> Void = { _ in },
    _ decide: (Contents) throws -> (step: FolderStep, result: Result)
  ) throws -> Result {
    try make()
    return try locked(alone: true) {
      let owner = try lockAgainstServer()
      defer { withExtendedLifetime(owner) {} }
      try finishPendingStep()
      let contents = Contents(path: path)
      let (step, result) = try decide(contents)
      let news = FolderStep(
        try step.changes.filter {
          try isUncertain($0.fileName) || contents.read($0.fileName) != $0.contents
        })
      try apply(news, in: contents)
      if !news.changes.isEmpty { committed(news) }
      return result
    }
  }

  /// A server owns its folder as a whole, and keeps changes in its log that no other process may finish.
  private func lockAgainstServer() throws -> FolderLock {
    do { return try FolderLock(sharedAt: internalPath + "/lock") } catch {
      if case .disk(let error) = error { throw error }
      throw error
    }
  }

  private func locked<Result>(alone: Bool, _ body: () throws -> Result) throws -> Result {
    let folder = try Disk.open(path, O_RDONLY | O_DIRECTORY)
    defer { withExtendedLifetime(folder) {} }
    try Disk.lock(folder, alone: alone, path)
    return try body()
  }

  private func isUncertain(_ fileName: FileName) -> Bool {
    state.withLock { $0.uncertain.contains(fileName) }
  }

  /// Finishes what another process left half done.
  private func finishPendingStep() throws(DiskError) {
    if !isLogEmpty {
      do throws(DiskError) {
        _ = try JSONFolder(path: path) { folder, found in
          if let damaged = found.damaged {
            _ = try? folder.quarantine(damaged, as: FileName("log"))
          }
        }
        try ChangeLog.open(logPath).log.sync()
      } catch {
        markEmptiedLog()
        throw error
      }
    } else if !state.withLock({ $0.isCleaned }) {
      for name in try Disk.names(in: path).map({ FileName($0) }) where StagedFile.isStagedName(name)
      {
        try Disk.remove(path + "/" + name.text)
      }
    }
    state.withLock { $0.isCleaned = true }
  }

  /// Marks a log that may not stay empty: an entry that came back after a power cut would undo later steps. A zero
  /// byte, which is no entry, makes the next process empty the log again.
  private func markEmptiedLog() {
    guard Disk.signature(logPath).map({ $0.size == 0 }) ?? true else { return }
    _ = try? Disk.write(Data(count: 1), to: logPath)
  }

  private func apply(_ step: FolderStep, in contents: Contents) throws(DiskError) {
    switch step.changes.count {
    case 0: break
    case 1: try apply(step.changes[0], in: contents)
    default: try applyByLog(step)
    }
  }

  /// One file: a rename is whole by itself.
  private func apply(_ change: FileChange, in contents: Contents) throws(DiskError) {
    let previous = try contents.read(change.fileName)
    try put(change, isSynced: true)
    do { try Disk.syncFolder(path) } catch {
      // The state on the disk is unknown, and a caller that gets an error has to find the old contents. Until a sync
      // succeeds, the file does not count as stored.
      state.withLock { _ = $0.uncertain.insert(change.fileName) }
      try? put(FileChange(change.fileName, previous), isSynced: true)
      throw error
    }
    state.withLock { _ = $0.uncertain.remove(change.fileName) }
  }

  private func put(_ change: FileChange, isSynced: Bool) throws(DiskError) {
    if let contents = change.contents {
      try StagedFile(contents, in: path, as: change.fileName, isSynced: isSynced).place()
    } else {
      try Disk.remove(path + "/" + change.fileName.text)
    }
  }

  /// Several files: the step counts once the log has it. All that needs room on the disk is done before.
  private func applyByLog(_ step: FolderStep) throws(DiskError) {
    var staged: [StagedFile] = []
    var log: ChangeLog
    let directory: FileHandle
    do throws(DiskError) {
      directory = try Disk.openFolder(path)
      for change in step.changes {
        guard let contents = change.contents else { continue }
        staged.append(try StagedFile(contents, in: path, as: change.fileName))
      }
      log = try ChangeLog.open(logPath).log
      do throws(DiskError) { try log.append([step]) } catch {
        if log.isInDoubt {
          do { try log.clear() } catch { markEmptiedLog() }
        }
        throw error
      }
    } catch {
      for file in staged { file.discard() }
      throw error
    }
    // The step is durable. If the rest fails, the next process finishes it.
    do {
      for file in staged { try file.place() }
      for change in step.changes where change.contents == nil { try put(change, isSynced: false) }
      let files = step.changes.filter { $0.contents != nil }.map { path + "/" + $0.fileName.text }
      try Disk.syncFileSystem(of: directory, path, orFiles: files)
      try log.clear()
      try log.sync()
    } catch {
      markEmptiedLog()
    }
  }
}
