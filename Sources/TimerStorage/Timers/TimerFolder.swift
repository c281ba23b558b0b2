import Foundation
public import TimerCore

/// The data folder of a server: one file a timer, and one for what the server remembers beside them.
///
/// A start reads everything before it changes anything, so that a folder that it can't use stays as it was.
public struct TimerFolder {
  var folder: JSONFolder
  /// nil while a folder that nobody has owned before is read.
  var lock: FolderLock?
  /// What the clocks said at the newest change, or at the start.
  var clock: ClockReading
  var idempotencyFile: IdempotencyFile
  /// What each timer's file is to hold, so that a folder that is lost can be written anew.
  var lastRecords: [TimerID: KeptRecord] = [:]
  /// What the server remembers, as far as it is durable.
  var server = ServerRecord()
  /// Named by the folder's own file, new where answered changes may be missing.
  public internal(set) var history: String
  /// What a start has still to do; nil when it is done.
  var start: StartWork?
  /// Files that are not ours to replace, with the reason that was told.
  var blocked: [FileName: RecordFault] = [:]
  /// Edits that make no sense, and lie in the places of their timers' files until those change.
  var mistyped: [FileName: RecordFault] = [:]
  /// Another folder at the path, as it was seen last.
  var other: FolderView?

  /// What was found in the folder.
  public struct Contents: Sendable {
    public var timers: [TimerRecord] = []
    public var server = ServerRecord()
    /// Names what the data went through; new when changes that were answered are lost.
    public var history = ""
    /// The named changes of the last minutes, on the clock of this process.
    public var requests: [IdempotencyEntry] = []
    /// Files that hold no timer.
    public var faults: [FileFault] = []
    /// The names of what was put aside, now and earlier.
    public var quarantined: [String] = []
    /// What else a person has to know of how the folder was found.
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
      guard error.isOfFullDisk, folder.canGiveRoom else { throw error }
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

  /// A log that is about to be emptied takes with it what it alone knew of named changes, unless they are in their file.
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
      // A mistyped file gives way to a change of its timer.
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

  /// Writes the timers' files as far as they are behind, and tells what the disk refused.
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

  /// Brings every file up to date, for good, so that the log can begin anew.
  mutating func checkpoint(staysBusy: Bool = false) throws(DiskError) {
    if let error = start?.error { throw error }
    try finishStart()
    try checkPlace()
    stageIdempotencyFile()
    try folder.checkpoint(staysBusy: staysBusy)
  }

  /// Takes the names of files that were left since somebody else has changed them: they have to be looked at.
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
  /// What others did to these files, or to any of them; what we did ourselves is left out.
  ///
  /// A file that is not there, or holds no timer, may be one that is being written just now: it is doubtful first, and
  /// removed or damaged only at a second look.
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

  /// Whether there is a file on the disk now.
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
    // What is gone was not the timer's: it comes back into its place.
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

  /// Who made a typo wants to correct it in its place: the file stays, and its timer is in the log meanwhile.
  private mutating func keepMistyped(_ fileName: FileName, _ fault: RecordFault) {
    let isProtected = folder.isProtected(fileName)
    blocked[fileName] = nil
    mistyped[fileName] = fault
    folder.keepWhenReplaced(fileName)
    guard let contents = contentsInMemory(fileName) else { return folder.unprotect(fileName) }
    // To a change that waits for its file the edit gives way.
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

  /// The file was the only place that had this; from here on the log is. Where the log takes nothing for now, it gets it
  /// as soon as it can.
  private mutating func keepInLog(_ fileName: FileName, _ contents: Data) {
    folder.protect(fileName, keeping: contents)
    guard start == nil else { return }
    try? commit([FolderStep([FileChange(fileName, contents)])])
  }
}

/// What somebody else did to a timer's file.
public enum ExternalChange: Sendable {
  case edited(TimerRecord)
  case removed(TimerID)
  /// It was left as it is; the timer stays what it was.
  case damaged(FileFault)
  /// A file that could not be used is gone, and the timer that it was in the way of gets its own again.
  case released(TimerID)

  /// Whether another look would say the same.
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
  /// Where it was put aside, if it was.
  public var movedTo: String?

  public init(fileName: FileName, fault: RecordFault, movedTo: String? = nil) {
    self.fileName = fileName
    self.fault = fault
    self.movedTo = movedTo
  }

  /// The timer that the file's name tells.
  public var timer: TimerID? {
    fileName.key.flatMap(TimerID.init)
  }
}

/// One change for the disk: all of it or nothing.
public struct TimerWrite: Hashable, Sendable {
  /// Counts the writes of a process.
  public let ticket: UInt64
  /// What the timers' files are to hold; nil: the timer is forgotten.
  public let timers: [TimerID: TimerRecord?]
  /// What the server remembers, where that changes too.
  public let server: ServerRecord?
  /// The tickets of the writes that this one builds on, as far as they were under way.
  public let bases: Set<UInt64>
  /// Reports up to this ticket were heard by the one who asks: nothing builds on failures before it.
  public let reported: UInt64
  /// What the clocks said when it was decided.
  public let clock: ClockReading?
  /// Timers whose files somebody else has removed: a file that is there again is not this write's to remove.
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

/// What became of a write.
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
