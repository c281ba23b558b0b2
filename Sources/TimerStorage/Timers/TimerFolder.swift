import Foundation
public import TimerCore

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
  /// Edits that make no sense, and lie in the places of their timers' files until those change.
  var mistyped: [FileName: RecordFault] = [:]
  /// Another folder at the path, as it was seen last.
  var other: FolderView?

  /// The contents of a folder.
  public struct Contents: Sendable {
    public var timers: [TimerRecord] = []
    public var server = ServerRecord()
    /// Names what the data went through; new when changes that were answered are lost.
    public var history = ""
    /// The named changes of the last minutes, on the clock of this process.
    public var requests: [IdempotencyEntry] = []
    /// Files that hold no timer.
    public var faults: [FileFault] = []
    /// The names of the files in quarantine, old and new.
    public var quarantined: [String] = []
    /// Remarks for the operator about the folder.
    public var remarks: [String] = []

    public init() {}

    /// The same on the clock of `now`: the one place where instants of earlier processes are moved.
    public func moved(to now: ClockReading) -> Contents {
      var moved = self
      moved.timers = timers.map { $0.moved(to: now, by: server.lastClocks) }
      moved.server = server.moved(to: now)
      return moved
    }
  }

  /// The server's record in its file, and those in the log since, as far as they can be read.
  private static func servers(
    in folder: inout JSONFolder, _ steps: [FolderStep]
  ) -> [ServerRecord] {
    let inFile = try? folder.read(ServerRecord.fileName)
    let first = inFile.flatMap { try? JSONDecoder().decode(ServerRecord.self, from: $0) }
    return ([first] + steps.map(serverRecord)).compactMap(\.self)
  }

  private static func serverRecord(in step: FolderStep) -> ServerRecord? {
    step.changes.first { $0.fileName == ServerRecord.fileName }?.contents
      .flatMap { try? JSONDecoder().decode(ServerRecord.self, from: $0) }
  }

  public var path: String { folder.path }
  var lockPath: String { folder.inside + "/lock" }
  var historyPath: String { folder.inside + "/history" }

  /// Makes writes durable, all or none; the files follow by `writeFiles`.
  mutating func commit(_ writes: [TimerWrite]) throws(DiskError) {
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

  private mutating func commit(_ steps: [FolderStep]) throws(DiskError) {
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

  private mutating func remember(_ write: TimerWrite) {
    idempotencyFile.record(write)
    for (id, record) in write.timers {
      lastRecords[id] = record.map(KeptRecord.init)
      // A change of its timer replaces a mistyped file.
      if !mistyped.isEmpty { allowReplacing(TimerWrite.fileName(of: id)) }
    }
    guard let server = write.server else { return }
    self.server = server
    self.server.removals = []
    self.server.unchanged = nil
  }

  private mutating func allowReplacing(_ fileName: FileName) {
    if mistyped[fileName] != nil, blocked[fileName] == nil { folder.unprotect(fileName) }
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

  /// Takes edits that made no sense and gave way to a later change of their timers, with where they are now.
  mutating func drainPutAside() -> [FileFault] {
    folder.drainPutAside().map { name, place in
      let fault = mistyped.removeValue(forKey: name)
      return FileFault(
        fileName: name, fault: fault ?? .malformed("it was damaged"), movedTo: place)
    }
  }
}

// MARK: - Changes by others

extension TimerFolder {
  /// Returns the changes that others made to these files, or to any; our own are left out.
  ///
  /// A missing or invalid file may be one that is being written: it is doubtful at first, and counts as removed or
  /// damaged only when a recheck confirms it.
  mutating func changesByOthers(
    _ fileNames: [FileName]?, isRecheck: Bool = false
  ) -> (changes: [ExternalChange], doubtful: [FileName]) {
    var changes: [ExternalChange] = []
    var doubtful: [FileName] = []
    let names = fileNames ?? namesNeedingReading
    for name in names.sorted() where name.isValue && needsReading(name) {
      let change = change(of: name, isRecheck: isRecheck)
      if let change, !change.isCertain, !isRecheck {
        doubtful.append(name)
      } else if let change {
        changes.append(change)
      }
    }
    return (changes, doubtful)
  }

  /// Returns whether there is a file on the disk now.
  func hasFile(_ fileName: FileName) -> Bool { folder.hasFile(fileName) }

  /// Files that could not be read, and may be by now.
  var unreadable: [FileName] {
    blocked.filter { if case .unreadable = $0.value { true } else { false } }.map(\.key)
  }

  /// Of all files.
  private var namesNeedingReading: [FileName] {
    let changed = (try? folder.namesChangedByOthers()) ?? []
    return Array(Set(changed).union(folder.namesProtectedAndGone))
  }

  private func needsReading(_ fileName: FileName) -> Bool {
    if case .unreadable = blocked[fileName] { return true }
    if folder.isProtected(fileName), !folder.hasFile(fileName) { return true }
    return folder.isChangedByOthers(fileName)
  }

  private mutating func change(of fileName: FileName, isRecheck: Bool) -> ExternalChange? {
    guard folder.hasFile(fileName) else { return absence(of: fileName, isRecheck: isRecheck) }
    // To touch a file is no edit: it may be behind the log, and would take back what was answered.
    if blocked[fileName] == nil, folder.acceptIfOnlyTouched(fileName) { return nil }
    do {
      let record = try record(inFile: fileName)
      forgetMistyped(fileName)
      unblock(fileName)
      return .edited(record)
    } catch {
      guard isRecheck else {
        folder.forget(fileName)
        return .damaged(FileFault(fileName: fileName, fault: error))
      }
      let isNews = blocked[fileName] != error
      if error.isDamage { keepMistyped(fileName, error) } else { block(fileName, error) }
      return isNews ? .damaged(FileFault(fileName: fileName, fault: error)) : nil
    }
  }

  private mutating func absence(of fileName: FileName, isRecheck: Bool) -> ExternalChange? {
    guard let id = fileName.key.flatMap(TimerID.init) else {
      folder.forget(fileName)
      return nil
    }
    guard isRecheck else { return .removed(id) }
    folder.forget(fileName)
    forgetMistyped(fileName)
    guard blocked[fileName] != nil else { return .removed(id) }
    // The removed file was not the timer's own, which is written again.
    unblock(fileName)
    if let kept = lastRecords[id] { folder.put(FileChange(fileName, kept.record.contents())) }
    return lastRecords[id] == nil ? .removed(id) : .released(id)
  }

  /// From here on the file is left as it is, unless its fault is damage.
  mutating func block(_ fileName: FileName, _ fault: RecordFault) {
    guard !fault.isDamage else { return unblock(fileName) }
    blocked[fileName] = fault
    guard start == nil, let contents = contentsInMemory(fileName), !folder.isPendingWrite(fileName)
    else { return folder.protect(fileName) }
    keepInLog(fileName, contents)
  }

  private mutating func unblock(_ fileName: FileName) {
    guard blocked.removeValue(forKey: fileName) != nil else { return }
    folder.unprotect(fileName)
  }

  /// Keeps an invalid edit, so that its author can correct it in place; the timer is in the log meanwhile.
  private mutating func keepMistyped(_ fileName: FileName, _ fault: RecordFault) {
    let isProtected = folder.isProtected(fileName)
    blocked[fileName] = nil
    mistyped[fileName] = fault
    folder.keepWhenReplaced(fileName)
    guard let contents = contentsInMemory(fileName) else { return folder.unprotect(fileName) }
    // A pending change of the timer replaces the edit.
    if isProtected || !folder.isPendingWrite(fileName) { keepInLog(fileName, contents) }
  }

  /// The file is as it should be again, or gone.
  private mutating func forgetMistyped(_ fileName: FileName) {
    mistyped[fileName] = nil
    folder.stopKeeping(fileName)
  }

  private func contentsInMemory(_ fileName: FileName) -> Data? {
    fileName.key.flatMap(TimerID.init).flatMap { lastRecords[$0]?.record.contents() }
  }

  /// Keeps the contents of a file that is about to lose them in the log. If the log accepts nothing now, it gets them
  /// as soon as possible.
  private mutating func keepInLog(_ fileName: FileName, _ contents: Data) {
    folder.protect(fileName, keeping: contents)
    guard start == nil else { return }
    try? commit([FolderStep([FileChange(fileName, contents)])])
  }
}

/// A change that someone else made to a timer's file.
public enum ExternalChange: Sendable {
  case edited(TimerRecord)
  case removed(TimerID)
  /// It was left as it is; the timer stays what it was.
  case damaged(FileFault)
  /// A file that could not be used is gone, and the timer that it was in the way of gets its own again.
  case released(TimerID)

  /// True if a recheck is not needed.
  fileprivate var isCertain: Bool {
    switch self {
    case .edited, .released: true
    case .removed, .damaged: false
    }
  }
}

/// A file that holds no timer, and why.
public struct FileFault: Hashable, Sendable {
  public let fileName: FileName
  public let fault: RecordFault
  /// The path in quarantine, if it was moved there.
  public var movedTo: String?

  public init(fileName: FileName, fault: RecordFault, movedTo: String? = nil) {
    self.fileName = fileName
    self.fault = fault
    self.movedTo = movedTo
  }

  /// The timer of the file's name.
  public var timer: TimerID? {
    fileName.key.flatMap(TimerID.init)
  }
}

/// One change for the disk: all of it or nothing.
public struct TimerWrite: Hashable, Sendable {
  /// Counts the writes of a process.
  public let ticket: UInt64
  /// The next records of the timers; nil: the timer is removed.
  public let timers: [TimerID: TimerRecord?]
  /// The server's record, if it changes too.
  public let server: ServerRecord?
  /// The tickets of the writes that this one builds on, as far as they were under way.
  public let bases: Set<UInt64>
  /// The highest ticket whose report was handled by the time of this write: nothing depends on earlier failures.
  public let reported: UInt64
  /// The clocks' readings when the write was decided.
  public let clock: ClockReading?
  /// Timers whose files someone else has removed: a file that is there again must not be removed by this write.
  public var goneAlready: Set<TimerID> = []

  public init(
    ticket: UInt64, timers: [TimerID: TimerRecord?], server: ServerRecord? = nil,
    bases: Set<UInt64> = [], reported: UInt64 = 0, clock: ClockReading? = nil
  ) {
    self.ticket = ticket
    self.timers = timers
    self.server = server
    self.bases = bases
    self.reported = reported
    self.clock = clock
  }

  fileprivate func step(_ contents: inout ServerContents) -> FolderStep {
    var changes = timers.map { id, record in
      FileChange(
        Self.fileName(of: id), record?.contents(), isGoneAlready: goneAlready.contains(id))
    }
    if let server { changes.append(FileChange(ServerRecord.fileName, contents.of(server))) }
    return FolderStep(changes)
  }

  static func fileName(of id: TimerID) -> FileName {
    guard let fileName = FileName(key: id.name) else {
      preconditionFailure("a timer's name is never longer than a key may be")
    }
    return fileName
  }
}

/// The bytes of a server's record, which many writes of a group carry alike.
private struct ServerContents {
  private var last: (server: ServerRecord, contents: Data)?

  mutating func of(_ server: ServerRecord) -> Data {
    if let last, last.server == server { return last.contents }
    let contents = server.contents()
    last = (server, contents)
    return contents
  }
}

/// The result of a write.
public struct WriteReport: Sendable {
  public let ticket: UInt64
  public let result: Result<Void, DiskError>

  public init(ticket: UInt64, result: Result<Void, DiskError>) {
    self.ticket = ticket
    self.result = result
  }
}

/// A timer's record as it was stored last, by reference: a table of thousands has no empty places of its size then.
final class KeptRecord: Sendable {
  let record: TimerRecord

  init(_ record: TimerRecord) {
    self.record = record
  }
}
