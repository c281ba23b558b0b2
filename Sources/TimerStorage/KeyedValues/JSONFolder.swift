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
  /// What files are to become that are not written yet; nil: they are to go.
  private var unwritten: [FileName: Data?] = [:]
  /// What was written since the last sync of all files that succeeded. Where one fails the system takes what is lost
  /// for written, so all of it has to be written anew before another sync says anything.
  private var unsynced: [FileName: Data?] = [:]
  /// Removals that somebody else made: what is there under such a name was put there since.
  private var goneAlready: Set<FileName> = []
  /// Files whose contents no log has: a name without them would be all that a power cut leaves.
  private var unlogged: Set<FileName> = []
  /// Files that are not ours to replace for now; what they are to become stays in the log.
  private var protectedFiles: Set<FileName> = []
  /// Files whose contents are nobody's but an editor's: they are put aside before something else takes their place.
  private var keptWhenReplaced: Set<FileName> = []
  /// Files that were put aside so, with where they are.
  private var putAside: [(fileName: FileName, place: String)] = []
  /// Something that is held back is not in the log yet.
  private var isLogIncomplete = false
  /// Files that were to be written or removed, and are not what they were when they were looked at last.
  private var contested: Set<FileName> = []
  /// The files as we wrote or read them last, to tell changes by others.
  private var known: [FileName: KnownFile] = [:]
  /// What those files held, to tell at the next start what was put there after the last change.
  private var seen = SeenContents()
  /// Whether a file that somebody else has changed is left until it was looked at.
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

  /// What `recovered` is given was in the log; what it adds is durable before the log is emptied.
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
    for name in try Disk.names(in: path).map({ FileName($0) }) where StagedFile.isOne(name) {
      try Disk.remove(filePath(name))
    }
  }

  /// Cuts off what a crash tore at the end of the log.
  mutating func truncateTornEnd() throws(DiskError) {
    try log.truncateTail()
  }

  /// Whether a file waits to be written.
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
      // The folder above may be one that we must not look into; then somebody else has made this one.
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

  /// Reads a file as it is to be: what is about to be written counts. From here on only another state of it is a
  /// change.
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

  /// Reads a file as it is on the disk now; from here on only another state of it is a change.
  ///
  /// What is no file, behind a link too, is not opened, and a file of more bytes than `bytesMax` is not read.
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

  /// Whether somebody else changed, added or removed this file. That it is not there is no change while one of our
  /// own is about to bring it back.
  public func isChangedByOthers(_ fileName: FileName) -> Bool {
    guard let signature = signature(of: fileName) else {
      return known[fileName] != nil && unwritten[fileName] == nil
    }
    return signature != known[fileName]?.signature
  }

  /// Whether there is a file now, or will be.
  public func has(_ fileName: FileName) -> Bool {
    if let contents = unwritten[fileName] { return contents != nil }
    return hasFile(fileName)
  }

  /// Whether there is a file on the disk now.
  func hasFile(_ fileName: FileName) -> Bool {
    signature(of: fileName) != nil
  }

  func signature(of fileName: FileName) -> FileSignature? {
    Disk.signature(filePath(fileName))
  }

  /// Whether a file holds what we know it to hold, though somebody has touched it; from here on that is no change.
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

  /// The file is not ours to replace: what it is to become waits in the log. `contents` is what it was to hold so far,
  /// and no longer does.
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

  /// Whether the file is left as it is for now.
  func isProtected(_ fileName: FileName) -> Bool {
    protectedFiles.contains(fileName)
  }

  /// Files that were left as they were, and are gone.
  var namesProtectedAndGone: [FileName] { protectedFiles.filter { !hasFile($0) } }

  /// A file that is held back, and is to be put aside in the end, stays what it is though the log has something else
  /// for it: the log's next entry says so, and a start knows whose file it was.
  private mutating func recordKept(_ fileNames: [FileName]) {
    for name in fileNames where protectedFiles.contains(name) && keptWhenReplaced.contains(name) {
      if let hash = known[name]?.hash, hash != 0 { seen.record(hash, of: name) }
    }
  }

  /// Has a file put aside, and not lost, when it is to be replaced or removed.
  mutating func keepWhenReplaced(_ fileName: FileName) {
    keptWhenReplaced.insert(fileName)
  }

  /// The file is an ordinary one again: what was kept in the log instead of it is no longer to come into its place.
  mutating func stopKeeping(_ fileName: FileName) {
    guard keptWhenReplaced.remove(fileName) != nil, protectedFiles.remove(fileName) != nil else {
      return
    }
    unwritten.removeValue(forKey: fileName)
  }

  /// Takes the names of files that were put aside since they were replaced, and where they are.
  mutating func drainPutAside() -> [(fileName: FileName, place: String)] {
    defer { putAside = [] }
    return putAside
  }

  /// Takes the names of files that were left since somebody else has changed them.
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

  /// The names of what was put aside, sorted.
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

  /// Whether the next step, or probe, has to empty the log first.
  var isLogInDoubt: Bool { log.isInDoubt }
  /// Whether a log that is emptied gives the disk room.
  var canGiveRoom: Bool { !log.isInDoubt && !log.isEmpty }

  /// Makes steps durable, all or none; their files follow by `writeFiles`.
  ///
  /// `isOwned` throws when the folder is no longer ours. It is asked before and after, as it is whether the folder and
  /// its log are still those that a start would find: what is written to others is lost. `isLogOurs` tells whether
  /// nobody else can have come to own the log, wherever it is.
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
      // Refused, so that no file comes to hold it: the next entry has to tell what is really there.
      seen.restore(former)
      // A log that has no name any more is nobody else's.
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
      guard error.isOfFullDisk, canGiveRoom else { throw error }
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

  /// A log in doubt takes nothing before it has begun anew.
  private mutating func emptyLog() throws(DiskError) {
    try checkpoint()
    guard log.isInDoubt else { return }
    throw DiskError("checkpoint", path, code: EAGAIN)
  }

  /// Writes the files that changed. What fails stays in the log and is tried again the next time.
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

  /// Whether any file is not what the log says, and can be.
  public var isBehind: Bool { unwritten.keys.contains { !protectedFiles.contains($0) } }
  /// Those files.
  var fileNamesBehind: [FileName] { unwritten.keys.filter { !protectedFiles.contains($0) } }
  public var isCheckpointDue: Bool { log.length > Self.logBytesMax }
  /// Whether anything is in the log only that could be in its file.
  public var isCheckpointed: Bool {
    guard !log.isInDoubt, unsynced.isEmpty, !isBehind, !isLogIncomplete else { return false }
    return unwritten.isEmpty ? log.length == 0 : log.isEmpty
  }

  /// Writes and syncs all files, then empties the log; one that stays busy keeps its room on the disk.
  ///
  /// Nothing is emptied while a file waits that somebody else has changed: that one has to be looked at first.
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

  /// Whether the file was written or removed; not while it is another one than we know.
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

  /// Which folder this is; nil when it was removed.
  var place: FilePlace? { Disk.place(of: directory) }

  /// Whether the folder at the path is this one.
  var isAtItsPath: Bool { place != nil && Disk.place(path) == place }

  /// Whether the log at its path is this one; one that is still to be made is.
  var isLogAtItsPath: Bool {
    guard let place = log.place else { return log.isInDoubt && !log.hasFile }
    return Disk.place(inside + "/log") == place
  }

  /// Whether the log, which nobody else may write, is longer or shorter than it was left; not while another one is at
  /// its path.
  var isLogChangedByOthers: Bool {
    guard !log.isInDoubt, isLogAtItsPath else { return false }
    return log.isChangedByOthers
  }

  /// Throws when the folder or its log is no longer the one at its path.
  func checkPlace() throws(DiskError) {
    guard isAtItsPath else { throw DiskError("find", path, code: ESTALE) }
    guard isLogAtItsPath else { throw DiskError("find", inside + "/log", code: ESTALE) }
  }

  /// Gives the folder another log, since somebody else has taken this one away; what another one there holds is kept
  /// aside. Everything that only the old log has is written by the next checkpoint.
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
