public import Foundation

/// A folder of small files that change atomically and durably, many at a time.
///
/// A step is durable when the folder's log has it: one append and one sync for a whole group. The files
/// themselves are replaced by renames right after, or a little later while more changes wait; they are
/// synced before the log forgets. Used from one thread at a time.
public struct JSONFolder {
  public let path: String
  /// Where the folder keeps what is no value: its log, its lock.
  private let inside: String
  private var log: ChangeLog
  /// What files are to become that are not written yet; nil: they are to go.
  private var unwritten: [FileName: Data?] = [:]
  /// The files as we wrote or read them last, to tell changes by others.
  private var known: [FileName: FileSignature] = [:]

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
    self.path = path
    inside = path + "/" + Self.insideName
    try Self.prepare(path)
    let found: ChangeLog.Found
    (log, found) = try ChangeLog.open(inside + "/log")
    for name in try names() where StagedFile.isOne(name) {
      // What was being written when the process died is in the log, or was not answered.
      try Disk.remove(filePath(name))
    }
    for change in found.steps.flatMap(\.changes) { put(change) }
    recovered(&self, found)
    try checkpoint()
  }

  /// Has a file written with the others, though no log knows of it.
  mutating func put(_ change: FileChange) {
    unwritten.updateValue(change.contents, forKey: change.fileName)
  }

  /// Makes the folder where there is none, and checks that it can be written to.
  static func prepare(_ path: String) throws(DiskError) {
    try Disk.makeFolders(path + "/" + insideName)
    let probe = path + "/.probe" + StagedFile.ending
    _ = try Disk.write(Data("{}".utf8), to: probe)
    try Disk.remove(probe)
  }

  // MARK: Looking

  /// The names of the value files, sorted.
  public func fileNames() throws(DiskError) -> [FileName] {
    try names().filter(\.isValue).sorted()
  }

  private func names() throws(DiskError) -> [FileName] {
    try Disk.names(in: path).map { FileName($0) }
  }

  /// Reads a file as it is now; from here on only another state of it is a change.
  public mutating func read(_ fileName: FileName) throws(DiskError) -> Data {
    known[fileName] = Disk.signature(filePath(fileName))
    return try Disk.read(filePath(fileName))
  }

  /// Whether somebody else changed, added or removed this file. Not while a change of our own is about to
  /// replace it.
  public func isChangedByOthers(_ fileName: FileName) -> Bool {
    guard unwritten[fileName] == nil else { return false }
    return Disk.signature(filePath(fileName)) != known[fileName]
  }

  /// Whether the file is there.
  public func has(_ fileName: FileName) -> Bool {
    Disk.signature(filePath(fileName)) != nil
  }

  /// From here on the file's absence is no change.
  public mutating func forget(_ fileName: FileName) {
    known[fileName] = nil
  }

  /// The names of files that others changed, added or removed.
  public func namesChangedByOthers() throws(DiskError) -> [FileName] {
    Set(try fileNames()).union(known.keys.filter(\.isValue)).filter(isChangedByOthers)
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

  /// Makes steps durable, all or none; their files follow by `writeFiles`.
  public mutating func commit(_ steps: [FolderStep]) throws(DiskError) {
    if log.isInDoubt { try checkpoint() }
    do { try log.append(steps) } catch {
      // A full disk may have room again once the log is empty.
      guard error.code == ENOSPC, !log.isInDoubt, !log.isEmpty else { throw error }
      try checkpoint()
      try log.append(steps)
    }
    for change in steps.flatMap(\.changes) { put(change) }
  }

  /// Writes the files that changed. What fails stays in the log and is tried again the next time.
  public mutating func writeFiles() -> [DiskError] {
    writeFiles(of: fileNamesBehind[...])
  }

  /// Writes these files as far as they are behind.
  mutating func writeFiles(of fileNames: ArraySlice<FileName>) -> [DiskError] {
    var errors: [DiskError] = []
    for fileName in fileNames {
      guard let contents = unwritten[fileName] else { continue }
      do {
        try replace(fileName, contents)
        unwritten.removeValue(forKey: fileName)
      } catch {
        errors.append(error)
      }
    }
    return errors
  }

  /// Whether any file is not what the log says.
  public var isBehind: Bool { !unwritten.isEmpty }
  /// Those files.
  var fileNamesBehind: [FileName] { Array(unwritten.keys) }
  public var isCheckpointDue: Bool { log.length > Self.logBytesMax }
  /// Whether anything is in the log only.
  public var isCheckpointed: Bool { log.length == 0 && !log.isInDoubt && unwritten.isEmpty }

  /// Writes and syncs all files, then empties the log; one that stays busy keeps its room on the disk.
  public mutating func checkpoint(staysBusy: Bool = false) throws(DiskError) {
    if let error = writeFiles().first { throw error }
    guard !isCheckpointed else { return }
    try Disk.syncFileSystem(of: path)
    if staysBusy { try log.beginAnew() } else { try log.clear() }
  }

  private mutating func replace(_ fileName: FileName, _ contents: Data?) throws(DiskError) {
    guard let contents else {
      try Disk.remove(filePath(fileName))
      known[fileName] = nil
      return
    }
    let staged = try StagedFile(contents, in: path, as: fileName)
    let signature = staged.signature
    try staged.place()
    known[fileName] = signature
  }
}
