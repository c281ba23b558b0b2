import Foundation

/// A folder of small files that change atomically and durably, many at a time.
///
/// A step is durable when the folder's log has it: one append and one sync for a whole group. The files
/// themselves are replaced by renames right after, or a little later while more changes wait; they are
/// synced before the log forgets. Used from one thread at a time.
public struct JSONFolder {
  public let path: String
  /// Where the folder keeps what is no value: its log, its lock.
  let inside: String
  /// Open for as long as this lives, so that no error of a sync passes it by.
  let directory: FileHandle
  /// The disk that it is on.
  let device: UInt64?
  var log: ChangeLog
  /// The next contents of files that are not written yet; nil: to be removed.
  var unwritten: [FileName: Data?] = [:]
  /// Files written since the last successful sync. When a sync fails, the system takes lost pages for written, so all
  /// of these have to be written again before another sync means anything.
  var unsynced: [FileName: Data?] = [:]
  /// Removals that someone else made: a file under such a name is newer.
  private var goneAlready: Set<FileName> = []
  /// Files whose contents are in no log. Their contents are synced before the rename, or a power cut could leave an
  /// empty file.
  private var unlogged: Set<FileName> = []
  /// Files that must not be replaced for now; their next contents stay in the log.
  var protectedFiles: Set<FileName> = []
  /// Files with edits that are stored nowhere else: they are moved to quarantine before they are replaced.
  var keptWhenReplaced: Set<FileName> = []
  /// Files that were moved to quarantine for that, with their new paths.
  var putAside: [(fileName: FileName, place: String)] = []
  /// True if the next contents of a protected file are not in the log yet.
  var isLogIncomplete = false
  /// Files that were to be written or removed, and are not what they were when they were looked at last.
  var contested: Set<FileName> = []
  /// The files' states when this process wrote or read them last, to detect changes by others.
  var known: [FileName: KnownFile] = [:]
  /// Hashes of the files' contents, so that the next start can detect changes after the last entry of the log.
  var seen = SeenContents()
  /// True if a file that someone else has changed is not replaced before it was read.
  var preservesChangesByOthers = false {
    didSet { seen.isComplete = preservesChangesByOthers }
  }

  /// A log that grows beyond this is emptied though changes keep coming.
  private static let logBytesMax: UInt64 = 16 << 20
  static let insideName = ".timersync"

  /// Makes the folder where there is none, and finishes what a crash left half done.
  public init(path: String) throws(DiskError) {
    try self.init(path: path) { _, _ in }
  }

  /// `recovered` gets the contents of the log; what it adds is durable before the log is emptied.
  init(
    path: String, recovered: (inout JSONFolder, ChangeLog.Found) -> Void
  ) throws(DiskError) {
    try Disk.makeFolders(path + "/" + Self.insideName)
    let found: ChangeLog.Found
    (self, found) = try Self.read(path)
    for change in found.steps.flatMap(\.changes) { put(change) }
    recovered(&self, found)
    try removeLeftovers()
    try log.truncateTail()
    try checkpoint()
  }

  private init(_ path: String, _ directory: FileHandle, _ log: ChangeLog) {
    self.path = path
    inside = path + "/" + Self.insideName
    self.directory = directory
    device = Disk.place(of: directory)?.device
    self.log = log
  }

  /// Opens a folder as it is, and gives what its log holds; nothing is changed.
  static func read(
    _ path: String
  ) throws(DiskError) -> (folder: JSONFolder, found: ChangeLog.Found) {
    let directory = try Disk.openFolder(path)
    let (log, found) = try ChangeLog.read(path + "/" + insideName + "/log")
    return (JSONFolder(path, directory, log), found)
  }

  /// Removes what was being written when a process died: it is in the log, or was not answered.
  func removeLeftovers() throws(DiskError) {
    for name in try Disk.names(in: path).map({ FileName($0) }) where StagedFile.isStagedName(name) {
      try Disk.remove(filePath(name))
    }
  }

  /// Cuts off what a crash tore at the end of the log.
  mutating func truncateTornEnd() throws(DiskError) {
    try log.truncateTail()
  }

  /// Returns whether a file waits to be written.
  func isPendingWrite(_ fileName: FileName) -> Bool {
    unwritten[fileName].map { $0 != nil } ?? false
  }

  /// Has a file written with the others, though no log knows of it: its contents are on the disk before its name is.
  mutating func putUnlogged(_ change: FileChange) {
    put(change)
    unlogged.insert(change.fileName)
  }

  /// Has a file written with the others, as the log has it.
  mutating func put(_ change: FileChange) {
    seen.record(change.contents, of: change.fileName)
    follow(change)
  }

  private mutating func follow(_ change: FileChange) {
    unwritten.updateValue(change.contents, forKey: change.fileName)
    unlogged.remove(change.fileName)
    if change.isGoneAlready {
      goneAlready.insert(change.fileName)
    } else {
      goneAlready.remove(change.fileName)
    }
  }

  // MARK: Changing

  /// Checks that the folder can be written to.
  func checkIsWritable() throws(DiskError) {
    let probe = path + "/.probe" + StagedFile.ending
    _ = try Disk.write(Data("{}".utf8), to: probe)
    try Disk.remove(probe)
  }

  /// Returns once the names of the folder, of what is inside, and of its log are on the disk.
  func syncNames() throws(DiskError) {
    try Disk.syncFolder(inside)
    try Disk.syncFolder(path)
    do { try Disk.syncFolder(Disk.parent(of: path)) } catch {
      // Without permission to read the folder above, it was not this process that created this one.
      guard error.operation == "open" else { throw error }
    }
  }

  /// True if the log has to be emptied before the next step or probe.
  var isLogInDoubt: Bool { log.isInDoubt }
  /// True if emptying the log frees space on the disk.
  var canFreeSpace: Bool { !log.isInDoubt && !log.isEmpty }

  /// Makes steps durable, all or none; `writeFiles` updates their files later.
  ///
  /// `isOwned` throws if the folder is no longer ours. It is called before and after, as is the check that the folder
  /// and its log are still at their paths: writes to moved ones are lost. `isLogOurs` returns whether no other process
  /// can own the log, wherever it is.
  mutating func commit(
    _ steps: [FolderStep], isOwned: () throws(DiskError) -> Void, isLogOurs: () -> Bool = { true }
  ) throws(DiskError) {
    try checkPlace()
    try isOwned()
    if log.isInDoubt { try emptyLog() }
    let former = seen.former(of: steps)
    let end = log.end
    try log.append(steps, seen: &seen)
    do throws(DiskError) {
      try checkPlace()
      try isOwned()
    } catch {
      // The entry is refused, so that no file gets its contents: the next entry has to record what is really there.
      seen.restore(former)
      // A log without a name belongs to no other process.
      if log.place == nil || isLogOurs() { log.retract(to: end) } else { log.markInDoubt() }
      throw error
    }
    for change in steps.flatMap(\.changes) { follow(change) }
    recordKept(steps.flatMap(\.changes).map(\.fileName))
  }

  /// Makes steps durable, all or none; their files follow by `writeFiles`.
  public mutating func commit(_ steps: [FolderStep]) throws(DiskError) {
    do { try commit(steps) { () throws(DiskError) in } } catch {
      // A full disk may have room again once the log is empty.
      guard error.isOfFullDisk, canFreeSpace else { throw error }
      try checkpoint()
      guard isCheckpointed else { throw error }
      try commit(steps) { () throws(DiskError) in }
    }
  }

  /// Has the disk prove that it takes changes.
  mutating func probe() throws(DiskError) {
    if log.isInDoubt { try emptyLog() }
    try log.probe()
  }

  /// Starts a log in doubt over, which accepts nothing before that.
  private mutating func emptyLog() throws(DiskError) {
    try checkpoint()
    guard log.isInDoubt else { return }
    throw DiskError("checkpoint", path, code: EAGAIN)
  }

  /// Writes the changed files. A file that fails stays in the log and is tried again next time.
  public mutating func writeFiles() -> [DiskError] {
    writeFiles(of: fileNamesBehind[...])
  }

  /// Writes these files as far as they are behind.
  mutating func writeFiles(of fileNames: ArraySlice<FileName>) -> [DiskError] {
    var errors: [DiskError] = []
    for fileName in fileNames where !protectedFiles.contains(fileName) {
      guard let contents = unwritten[fileName] else { continue }
      do {
        guard try replace(fileName, contents) else { continue }
        unwritten.removeValue(forKey: fileName)
        unsynced.updateValue(contents, forKey: fileName)
        goneAlready.remove(fileName)
      } catch {
        errors.append(error)
      }
    }
    return errors
  }

  /// True if a file that may be written differs from the log.
  public var isBehind: Bool { unwritten.keys.contains { !protectedFiles.contains($0) } }
  /// Those files.
  var fileNamesBehind: [FileName] { unwritten.keys.filter { !protectedFiles.contains($0) } }
  public var isCheckpointDue: Bool { log.length > Self.logBytesMax }
  /// True if everything in the log that may be in a file is.
  public var isCheckpointed: Bool {
    guard !log.isInDoubt, unsynced.isEmpty, !isBehind, !isLogIncomplete else { return false }
    return unwritten.isEmpty ? log.length == 0 : log.isEmpty
  }

  /// Writes and syncs all files, then empties the log. With `staysBusy` the log keeps its space on the disk.
  ///
  /// Nothing is emptied while a pending file was changed by someone else: that file has to be read first.
  public mutating func checkpoint(staysBusy: Bool = false) throws(DiskError) {
    if let error = writeFiles().first { throw error }
    guard !isCheckpointed, !isBehind else { return }
    do {
      try Disk.syncFileSystem(
        of: directory, path,
        orFiles: unsynced.filter { $0.value != nil }.map { filePath($0.key) })
    } catch {
      unwritten.merge(unsynced) { newer, _ in newer }
      unsynced = [:]
      throw error
    }
    unsynced = [:]
    seen.recordSync()
    if !unwritten.isEmpty {
      let waiting = unwritten.map {
        FileChange($0, $1, isGoneAlready: goneAlready.contains($0))
      }
      try log.begin(with: FolderStep(waiting), seen: &seen)
      recordKept(waiting.map(\.fileName))
    } else if staysBusy {
      try log.restart()
    } else {
      try log.clear()
    }
    isLogIncomplete = false
  }

  /// Returns whether the file was written or removed; not while it is another one than we know.
  private mutating func replace(
    _ fileName: FileName, _ contents: Data?
  ) throws(DiskError) -> Bool {
    let signature = signature(of: fileName)
    if preservesChangesByOthers, fileName.isValue, let signature,
      signature != known[fileName]?.signature
    {
      contested.insert(fileName)
      return false
    }
    if keptWhenReplaced.contains(fileName) {
      if signature != nil { putAside.append((fileName, try quarantine(fileName))) }
      keptWhenReplaced.remove(fileName)
    }
    guard let contents else {
      if hasFile(fileName), !goneAlready.contains(fileName) { try Disk.remove(filePath(fileName)) }
      known[fileName] = nil
      return true
    }
    let staged = try StagedFile(
      contents, in: path, as: fileName, isSynced: unlogged.contains(fileName))
    let fresh = staged.signature
    try staged.place()
    known[fileName] = fresh.map { KnownFile(signature: $0, hash: SeenContents.hash(contents)) }
    return true
  }
}
