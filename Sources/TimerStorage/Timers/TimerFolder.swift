import Foundation
import TimerCore

/// The data folder of a server: one file a timer, and one for what the server remembers beside them.
///
/// A start reads everything before it changes anything, so that a folder that it can't use stays as it was.
public struct TimerFolder {
  var folder: JSONFolder
  /// nil while a folder without a lock is read.
  var lock: FolderLock?
  /// The clocks' readings at the newest change, or at the start.
  var clock: ClockReading
  var idempotencyFile: IdempotencyFile
  /// The last record of each timer, so that a lost folder can be written again.
  var lastRecords: [TimerID: KeptRecord] = [:]
  /// The server's durable record.
  var server = ServerRecord()
  /// Named by the folder's own file, new where answered changes may be missing.
  public internal(set) var history: String
  /// The rest of the start's work; nil when it is done.
  var start: StartWork?
  /// Files that must not be replaced, with the reported reason.
  var blocked: [FileName: RecordFault] = [:]
  /// Invalid edits, which stay in their timers' files until those timers change.
  var invalidEdits: [FileName: RecordFault] = [:]
  /// Another folder at the path, as it was seen last.
  var other: FolderView?

  public typealias Contents = StoreContents

  public var path: String { folder.path }
  var lockPath: String { folder.inside + "/lock" }
  var historyPath: String { folder.inside + "/history" }

  /// Makes writes durable, all or none; the files follow by `writeFiles`.
  mutating func commit(_ writes: [StoredChange]) throws(DiskError) {
    guard !writes.isEmpty else { return }
    if let error = start?.error { throw error }
    try finishStart()
    if let newest = writes.last(where: { $0.clock != nil })?.clock { clock = newest }
    var contents = ServerContents()
    let steps = writes.map { $0.step(&contents) }
    do { try commit(steps) } catch {
      // A full disk may have room again once the log is empty.
      guard error.isOfFullDisk, folder.canFreeSpace else { throw error }
      try checkpoint()
      guard folder.isCheckpointed else { throw error }
      try commit(steps)
    }
    for write in writes { remember(write) }
  }

  mutating func commit(_ steps: [FolderStep]) throws(DiskError) {
    prepareForEmptying()
    let (lock, lockPath) = (lock, lockPath)
    try folder.commit(steps) { () throws(DiskError) in
      guard let place = lock?.place, place == Disk.place(lockPath) else {
        throw DiskError("find", lockPath, code: ESTALE)
      }
    } isLogOurs: {
      // Wherever it was moved to, with the log: a lock that has its name keeps all others away.
      lock?.place != nil
    }
  }

  /// Saves idempotency records that only the log has, before the log is emptied.
  mutating func prepareForEmptying() {
    if folder.isLogInDoubt { stageIdempotencyFile() }
  }

  mutating func stageIdempotencyFile() {
    guard idempotencyFile.isDirty else { return }
    folder.putUnlogged(FileChange(IdempotencyFile.fileName, idempotencyFile.contents(on: clock)))
  }

  private mutating func remember(_ write: StoredChange) {
    idempotencyFile.record(write)
    for (id, record) in write.timers {
      lastRecords[id] = record.map(KeptRecord.init)
      // A change of its timer replaces a mistyped file.
      if !invalidEdits.isEmpty { allowReplacing(StoredChange.fileName(of: id)) }
    }
    guard let server = write.server else { return }
    self.server = server
    self.server.removals = []
    self.server.unchanged = nil
  }

  private mutating func allowReplacing(_ fileName: FileName) {
    if invalidEdits[fileName] != nil, blocked[fileName] == nil { folder.unprotect(fileName) }
  }

  /// Writes the timers' files that are behind, and returns the errors.
  mutating func writeFiles() -> [DiskError] {
    writeFiles(of: folder.fileNamesBehind[...])
  }

  /// Writes these files as far as they are behind.
  mutating func writeFiles(of fileNames: ArraySlice<FileName>) -> [DiskError] {
    guard start == nil, displacement == nil else { return [] }
    return folder.writeFiles(of: fileNames)
  }

  var isBehind: Bool { folder.isBehind }
  var fileNamesBehind: [FileName] { folder.fileNamesBehind }

  var isCheckpointDue: Bool { folder.isCheckpointDue }
  var isCheckpointed: Bool { folder.isCheckpointed }

  /// Brings every file up to date durably, so that the log can start over.
  mutating func checkpoint(staysBusy: Bool = false) throws(DiskError) {
    if let error = start?.error { throw error }
    try finishStart()
    try checkPlace()
    stageIdempotencyFile()
    try folder.checkpoint(staysBusy: staysBusy)
  }

  /// Returns and clears the names of files that were not written because someone else has changed them; they have to be
  /// read.
  mutating func drainContested() -> [FileName] {
    folder.drainContested()
  }

  /// Returns and clears the invalid edits that a later change of their timers has replaced, with their paths in
  /// quarantine.
  mutating func drainQuarantined() -> [FileFault] {
    folder.drainQuarantined().map { name, place in
      let fault = invalidEdits.removeValue(forKey: name)
      return FileFault(
        fileName: name, fault: fault ?? .malformed("it was damaged"), movedTo: place)
    }
  }
}

/// A timer's record as it was stored last, by reference: a table of thousands has no empty places of its size then.
final class KeptRecord: Sendable {
  let record: TimerRecord

  init(_ record: TimerRecord) {
    self.record = record
  }
}
