public import Foundation

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
  private let directory: FileHandle
  /// The disk that it is on.
  let device: UInt64?
  private var log: ChangeLog
  /// The next contents of files that are not written yet; nil: to be removed.
  private var unwritten: [FileName: Data?] = [:]
  /// Files written since the last successful sync. When a sync fails, the system takes lost pages for written, so all
  /// of these have to be written again before another sync means anything.
  private var unsynced: [FileName: Data?] = [:]
  /// Removals that someone else made: a file under such a name is newer.
  private var goneAlready: Set<FileName> = []
  /// Files whose contents are in no log. Their contents are synced before the rename, or a power cut could leave an
  /// empty file.
  private var unlogged: Set<FileName> = []
  /// Files that must not be replaced for now; their next contents stay in the log.
  private var protectedFiles: Set<FileName> = []
  /// Files with edits that are stored nowhere else: they are moved to quarantine before they are replaced.
  private var keptWhenReplaced: Set<FileName> = []
  /// Files that were moved to quarantine for that, with their new paths.
  private var putAside: [(fileName: FileName, place: String)] = []
  /// True if the next contents of a protected file are not in the log yet.
  private var isLogIncomplete = false
  /// Files that were to be written or removed, and are not what they were when they were looked at last.
  private var contested: Set<FileName> = []
  /// The files' states when this process wrote or read them last, to detect changes by others.
  private var known: [FileName: KnownFile] = [:]
  /// Hashes of the files' contents, so that the next start can detect changes after the last entry of the log.
  private var seen = SeenContents()
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

  // MARK: Looking

  /// The names of the value files, sorted.
  public func fileNames() throws(DiskError) -> [FileName] {
    try names().filter(\.isValue).sorted()
  }

  private func names() throws(DiskError) -> [FileName] {
    var names = Set(try Disk.names(in: path).map { FileName($0) })
    for (name, contents) in unwritten {
      if contents == nil { names.remove(name) } else { names.insert(name) }
    }
    return Array(names)
  }

  /// Reads a file's next contents. Only a later state of the file counts as a change from here on.
  public mutating func read(_ fileName: FileName) throws(DiskError) -> Data {
    try read(fileName, atMost: .max)
  }

  /// As above; a file of more bytes is not read.
  mutating func read(_ fileName: FileName, atMost bytesMax: Int) throws(DiskError) -> Data {
    if let contents = unwritten[fileName] {
      guard let contents else { throw DiskError("open", filePath(fileName), code: ENOENT) }
      return contents
    }
    return try readFile(fileName, atMost: bytesMax)
  }

  /// Reads a file as it is on the disk; only a later state counts as a change from here on.
  ///
  /// Folders, devices and the like are not opened, behind a link either. A file of more than `bytesMax` bytes is not
  /// read.
  mutating func readFile(
    _ fileName: FileName, atMost bytesMax: Int = .max
  ) throws(DiskError) -> Data {
    let path = filePath(fileName)
    known[fileName] = Disk.signature(path).map { KnownFile(signature: $0, hash: 0) }
    guard !Disk.isNoFile(path) else { throw DiskError("read", path, code: EISDIR) }
    if let size = Disk.size(path), size > bytesMax {
      throw DiskError("read", path, code: EFBIG)
    }
    let contents: Data
    do { contents = try Disk.read(path) } catch {
      seen.recordUnreadable(fileName)
      throw error
    }
    let hash = SeenContents.hash(contents)
    known[fileName]?.hash = hash
    seen.record(hash, of: fileName)
    return contents
  }

  /// Returns whether someone else changed, added or removed this file. Its absence is no change while a pending write
  /// will bring it back.
  public func isChangedByOthers(_ fileName: FileName) -> Bool {
    guard let signature = signature(of: fileName) else {
      return known[fileName] != nil && unwritten[fileName] == nil
    }
    return signature != known[fileName]?.signature
  }

  /// Returns whether there is a file now, or will be.
  public func has(_ fileName: FileName) -> Bool {
    if let contents = unwritten[fileName] { return contents != nil }
    return hasFile(fileName)
  }

  /// Returns whether there is a file on the disk now.
  func hasFile(_ fileName: FileName) -> Bool {
    signature(of: fileName) != nil
  }

  func signature(of fileName: FileName) -> FileSignature? {
    Disk.signature(filePath(fileName))
  }

  /// Returns whether a file was touched without a change of its contents; if so, its new state counts as known.
  mutating func acceptIfOnlyTouched(_ fileName: FileName) -> Bool {
    guard let known = known[fileName], let signature = signature(of: fileName),
      signature.size == known.signature.size,
      let contents = try? Disk.read(filePath(fileName)), SeenContents.hash(contents) == known.hash
    else { return false }
    self.known[fileName]?.signature = signature
    return true
  }

  /// From here on the file's absence is no change.
  public mutating func forget(_ fileName: FileName) {
    known[fileName] = nil
  }

  /// The names of files that others changed, added or removed.
  public func namesChangedByOthers() throws(DiskError) -> [FileName] {
    Set(try fileNames()).union(known.keys.filter(\.isValue)).filter(isChangedByOthers)
  }

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
  private mutating func recordKept(_ fileNames: [FileName]) {
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
  mutating func drainPutAside() -> [(fileName: FileName, place: String)] {
    defer { putAside = [] }
    return putAside
  }

  /// Returns and clears the names of files that were not written because someone else has changed them.
  mutating func drainContested() -> [FileName] {
    defer { contested = [] }
    return Array(contested)
  }

  /// Puts a file aside where nothing reads it; its new path.
  public mutating func quarantine(_ fileName: FileName) throws(DiskError) -> String {
    let target = try placeInQuarantine(fileName)
    try Disk.rename(filePath(fileName), to: target)
    known[fileName] = nil
    return target
  }

  /// Keeps contents where nothing reads them; their path.
  func quarantine(_ contents: Data, as fileName: FileName) throws(DiskError) -> String {
    let target = try placeInQuarantine(fileName)
    _ = try Disk.write(contents, to: target)
    return target
  }

  /// The names of the files in quarantine, sorted.
  var quarantined: [String] {
    ((try? Disk.names(in: path + "/quarantine")) ?? []).sorted()
  }

  private func placeInQuarantine(_ fileName: FileName) throws(DiskError) -> String {
    let folder = path + "/quarantine"
    try Disk.makeFolders(folder)
    var target = folder + "/" + fileName.text
    var copies = 1
    while Disk.signature(target) != nil {
      copies += 1
      target = folder + "/" + fileName.text + ".\(copies)"
    }
    return target
  }

  public func filePath(_ fileName: FileName) -> String {
    path + "/" + fileName.text
  }

  // MARK: Changing

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

  // MARK: Its place

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

/// A file as we wrote or read it last.
private struct KnownFile {
  var signature: FileSignature
  /// Of what it held; 0 while that is not known.
  var hash: UInt64
}
