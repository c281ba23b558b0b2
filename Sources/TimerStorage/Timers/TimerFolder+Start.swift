import Foundation
public import TimerCore

/// The work of a start that is left once everything is read.
struct StartWork {
  let rollback: StartRollback
  /// Why it could not be done yet; nil before the first try.
  var error: DiskError?
  /// A damaged log, to be kept beside.
  var damagedLog: Data?
  /// The folder's history begins here.
  var writesHistory = false
  /// True if unknown revisions may have been issued.
  var skipsRevisions = false
  /// True if the server's record was recomputed.
  var writesServer = false
  /// Damaged files to be moved to quarantine.
  var damaged: [FileName] = []
  var faults: [FileFault] = []
  var remarks: [String] = []
}

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
    start.skipsRevisions = isRestored || found.damaged != nil || origin == .foreign
    start.damagedLog = found.damaged
    if found.damaged != nil {
      start.faults.append(
        FileFault(
          fileName: FileName(JSONFolder.insideName + "/log"),
          fault: .malformed("entries of the log are damaged; the others were kept")))
    }
    if origin == .foreign {
      start.remarks.append(
        "the data folder is a copy of another one, or its history is damaged: it gets a new history"
      )
    }
    self.lock = lock
    self.start = start
    try replay(found, isOwn: origin != .foreign && origin != .none)
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
  private mutating func acquireLock() throws(FolderError) {
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

  // MARK: The log

  /// Decides for each file of the log whether the log's last entry counts, or a newer file on the disk.
  private mutating func replay(_ found: ChangeLog.Found, isOwn: Bool) throws(FolderError) {
    var last: [FileName: FileChange] = [:]
    var said: [FileName: Set<Data>] = [:]
    for change in found.steps.flatMap(\.changes) {
      last[change.fileName] = change
      if let contents = change.contents { said[change.fileName, default: []].insert(contents) }
    }
    // In a copy each file may be of another moment, and behind damage any change may be missing.
    let isWhole = isOwn && found.damaged == nil
    for (name, change) in last {
      guard name.isValue, folder.hasFile(name) else {
        folder.put(change)
        continue
      }
      try replay(
        change, said: said[name] ?? [],
        former: found.former[name] ?? FormerContents(isKnown: false),
        isWhole: isWhole)
    }
  }

  /// Without a complete log it can't be told whether others put a file there.
  private mutating func replay(
    _ change: FileChange, said: Set<Data>, former: FormerContents, isWhole: Bool
  ) throws(FolderError) {
    let name = change.fileName
    let fault: RecordFault?
    var isByOthers = false
    var isMistyped = false
    do throws(RecordFault) {
      let bytes = try read(inFile: name)
      if said.contains(bytes) { return folder.put(change) }
      let isFormer = former.hashes.contains(SeenContents.hash(bytes))
      isByOthers = isWhole && former.isKnown && !isFormer
      // Only a file that a server read while running was mistyped; a power cut leaves files that no server has read.
      isMistyped = isFormer
      _ = try Self.record(bytes, in: name)
      fault = nil
    } catch {
      fault = error
    }
    if let fault, fault.isDamage, isMistyped { putAsideMistyped(change, fault) }
    switch fault {
    case .newerVersion(let version): throw .newer(file: name.text, version: version)
    case nil where isByOthers || change.isGoneAlready:
      start?.remarks.append(
        "\(name) was changed by others after the log's last entry, so the file is used"
      )
    // An unreadable file is as old as the log says, so later answered changes count.
    case nil, .malformed, .contradiction, .unreadable:
      folder.put(change)
    case .foreign(let why):
      protect(change, .foreign(why))
    }
  }

  /// An edit that made no sense, and was still there at the end: the log has what its timer was last.
  private mutating func putAsideMistyped(_ change: FileChange, _ fault: RecordFault) {
    let name = change.fileName
    guard change.contents != nil else { return folder.keepWhenReplaced(name) }
    start?.damaged.append(name)
    start?.faults.append(FileFault(fileName: name, fault: fault))
    start?.remarks.append("the timer of \(name) was restored from the log")
  }

  /// Protects a file of another program; the timer's next contents stay in the log.
  private mutating func protect(_ change: FileChange, _ fault: RecordFault) {
    block(change.fileName, fault)
    start?.faults.append(FileFault(fileName: change.fileName, fault: fault))
    folder.put(change)
  }

  private mutating func restoreIdempotencyFile(by later: [ClockReading]) throws(RecordFault) {
    let contents: Data
    do throws(DiskError) { contents = try folder.readFile(IdempotencyFile.fileName) } catch {
      throw .unreadable(error)
    }
    do { try idempotencyFile.restore(contents, on: clock, by: later) } catch {
      throw .malformed("\(error)")
    }
  }

  /// Restores the idempotency records of earlier processes, from the file and the log.
  private mutating func restoreIdempotencyFile(_ steps: [FolderStep]) throws(FolderError) {
    let later = servers(steps).flatMap(\.lastClocks)
    if folder.has(IdempotencyFile.fileName) {
      do throws(RecordFault) { try restoreIdempotencyFile(by: later) } catch {
        // The file only holds the last minutes, so the timers are loaded without it.
        start?.damaged.append(IdempotencyFile.fileName)
        start?.faults.append(FileFault(fileName: IdempotencyFile.fileName, fault: error))
      }
    }
    for step in steps {
      let server = Self.serverRecord(in: step)
      for change in step.changes {
        guard let id = change.fileName.key.flatMap(TimerID.init) else { continue }
        let record = change.contents.flatMap { try? TimerRecord(contents: $0, id: id) }
        let shift = (record?.clock ?? server?.clock)?.shift(to: clock, by: later) ?? .zero
        if let record {
          idempotencyFile.record(record, shift: shift)
        } else if change.contents == nil, let server {
          idempotencyFile.record(removalOf: id, in: server, shift: shift)
        }
      }
      if let server {
        let shift = server.clock?.shift(to: clock, by: later) ?? .zero
        idempotencyFile.record(unchangedIn: server, shift: shift)
      }
    }
  }

  /// The server's record in its file, and those in the log since, as far as they can be read.
  private mutating func servers(_ steps: [FolderStep]) -> [ServerRecord] {
    let inFile = try? folder.readFile(ServerRecord.fileName)
    let first = inFile.flatMap { try? JSONDecoder().decode(ServerRecord.self, from: $0) }
    return ([first] + steps.map(Self.serverRecord)).compactMap(\.self)
  }

  private static func serverRecord(in step: FolderStep) -> ServerRecord? {
    step.changes.first { $0.fileName == ServerRecord.fileName }?.contents
      .flatMap { try? JSONDecoder().decode(ServerRecord.self, from: $0) }
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

  private static func checkVersion(
    _ contents: Data, _ known: Int, _ fileName: FileName
  ) throws(FolderError) {
    let version = try? JSONDecoder().decode(TimerFileVersion.self, from: contents).version
    guard let version, version > known else { return }
    throw .newer(file: fileName.text, version: version)
  }

  // MARK: Timers

  /// Reads every timer, and then finishes what a crash left unfinished. A bad file affects no other timer: a damaged
  /// one of ours is moved to quarantine; a file of another program, or an unreadable one, is left in place.
  public mutating func load() throws(FolderError) -> Contents {
    do throws(FolderError) { return try loadAll() } catch {
      start?.rollback.rollBack()
      throw error
    }
  }

  private mutating func loadAll() throws(FolderError) -> Contents {
    var contents = Contents()
    var faults: [FileFault] = []
    let names: [FileName]
    do throws(DiskError) { names = try folder.fileNames() } catch { throw .disk(error) }
    for name in names {
      switch scan(name) {
      case .success(let record): contents.timers.append(record)
      case .failure(.newerVersion(let version)): throw .newer(file: name.text, version: version)
      case .failure(let fault):
        block(name, fault)
        if !(start?.faults ?? []).contains(where: { $0.fileName == name }) {
          faults.append(FileFault(fileName: name, fault: fault))
        }
      }
    }
    contents.server = try loadServer(&contents.timers, &faults)
    try acquireLock()
    contents.requests = idempotencyFile.requests
    lastRecords = [:]
    for record in contents.timers { lastRecords[record.timer.id] = KeptRecord(record) }
    server = contents.server
    server.removals = []
    server.unchanged = nil
    try finishLoading(&contents, faults)
    contents.history = history
    folder.preservesChangesByOthers = true
    return contents
  }

  private mutating func scan(_ name: FileName) -> Result<TimerRecord, RecordFault> {
    Result { () throws(RecordFault) in
      let contents: Data
      do throws(DiskError) { contents = try folder.read(name, atMost: Self.bytesMax) } catch {
        throw Self.fault(of: error)
      }
      return try Self.record(contents, in: name)
    }
  }

  /// Reads what is in a timer's file on the disk now.
  mutating func record(inFile fileName: FileName) throws(RecordFault) -> TimerRecord {
    try Self.record(read(inFile: fileName), in: fileName)
  }

  private mutating func read(inFile fileName: FileName) throws(RecordFault) -> Data {
    do { return try folder.readFile(fileName, atMost: Self.bytesMax) } catch {
      throw Self.fault(of: error)
    }
  }

  /// Of a timer's file: all that a timer may have takes far less.
  static let bytesMax = 1 << 20

  private static func fault(of error: DiskError) -> RecordFault {
    switch error.code {
    case EISDIR: .foreign("it is no file")
    case EFBIG: .foreign("it is too long for a timer's file")
    default: .unreadable(error)
    }
  }

  /// Parses a file; a fault tells whether the file is one of ours.
  static func record(
    _ contents: Data, in fileName: FileName
  ) throws(RecordFault) -> TimerRecord {
    do throws(RecordFault) {
      guard let key = fileName.key, let id = TimerID(key) else {
        throw .contradiction("the file's name is no timer's")
      }
      return try TimerRecord(contents: contents, id: id)
    } catch {
      switch error {
      case .malformed(let why), .contradiction(let why):
        if TimerFileMark.isOurs(contents, key: fileName.key) { throw error }
        throw .foreign(why)
      case .newerVersion(let version):
        if TimerFileMark.namesTimer(contents) { throw error }
        throw .foreign("it has the version \(version)")
      case .unreadable, .foreign: throw error
      }
    }
  }

  // MARK: Revisions

  /// Reads the server's record. If it is lost, revisions continue well above all that were seen.
  private mutating func loadServer(
    _ timers: inout [TimerRecord], _ faults: inout [FileFault]
  ) throws(FolderError) -> ServerRecord {
    var server = ServerRecord()
    var isLost = false
    if folder.has(ServerRecord.fileName) {
      let contents: Data
      do throws(DiskError) { contents = try folder.read(ServerRecord.fileName) } catch {
        throw .disk(error)
      }
      try Self.checkVersion(contents, ServerRecord.currentVersion, ServerRecord.fileName)
      do throws(RecordFault) { server = try ServerRecord(contents: contents) } catch {
        faults.append(FileFault(fileName: ServerRecord.fileName, fault: error))
        isLost = true
      }
    } else if start?.writesHistory == false {
      // A folder with a history and a revision must have had a record.
      isLost = timers.contains { $0.timer.revision > 0 } || !idempotencyFile.requests.isEmpty
      if isLost {
        start?.remarks.append("the server's own record .server is missing")
      }
    }
    for index in timers.indices {
      // No server counts that far: it was written by hand, and would block all later revisions.
      let revision = timers[index].timer.revision
      if revision > max(Self.revisionByHandMax, server.revisionCeiling) {
        timers[index].timer.revision = 0
      }
    }
    if isLost, start != nil {
      history = HistoryFile.newName()
      start?.writesHistory = true
    }
    if isLost || start?.skipsRevisions ?? false {
      let seen = timers.map(\.timer.revision) + idempotencyFile.requests.map(\.revision)
      server.revisionCeiling =
        max(server.revisionCeiling, seen.max() ?? 0) + Self.revisionsSkipped
      start?.writesServer = true
    }
    return server
  }

  private static let revisionsSkipped = 1_000_000
  /// Half of what a file may hold, so that revisions counted from there never reach the limit.
  private static let revisionByHandMax = TimerLimits.revisionMax / 2

  // MARK: Changing the folder

  /// Does what a start has to do; a disk that refuses for now does not keep the timers from being read.
  private mutating func finishLoading(
    _ contents: inout Contents, _ faults: [FileFault]
  ) throws(FolderError) {
    let damaged = faults.filter(\.fault.isDamage).map(\.fileName)
    let isFirst = start != nil
    start?.damaged += damaged
    start?.faults += faults
    do throws(DiskError) {
      try finishStart {
        contents.faults = $0.faults
        contents.remarks = $0.remarks
      }
    } catch {
      guard error.mayPass else { throw .disk(error) }
      contents.faults = start?.faults ?? []
      contents.remarks = start?.remarks ?? []
    }
    if !isFirst { contents.faults = faults.map { putAside($0) } }
    contents.quarantined = folder.quarantined
  }

  private mutating func putAside(_ fault: FileFault) -> FileFault {
    var fault = fault
    if fault.fault.isDamage { fault.movedTo = try? folder.quarantine(fault.fileName) }
    return fault
  }

  /// Does what is left of a start, if anything is: after reading, the folder may be changed.
  mutating func finishStart(_ done: (StartWork) -> Void = { _ in }) throws(DiskError) {
    guard start != nil else { return }
    do throws(DiskError) { try changeAfterReading() } catch {
      start?.error = error
      throw error
    }
    if let start { done(start) }
    start = nil
  }

  private mutating func changeAfterReading() throws(DiskError) {
    if lock == nil {
      do throws(FolderError) { try acquireLock() } catch {
        if case .disk(let error) = error { throw error }
        throw DiskError("lock", lockPath, code: EWOULDBLOCK)
      }
    }
    try folder.checkIsWritable()
    try lock?.nameOwner(lockPath)
    try folder.removeLeftovers()
    if let log = start?.damagedLog {
      let moved = try folder.quarantine(log, as: FileName("log"))
      start?.damagedLog = nil
      record(movedTo: moved, FileName(JSONFolder.insideName + "/log"))
    }
    for name in start?.damaged ?? [] {
      if folder.hasFile(name) { record(movedTo: try folder.quarantine(name), name) }
    }
    start?.damaged = []
    if start?.writesServer ?? false {
      // Before the history has a name: revisions that are given in it are above all that were given.
      folder.putUnlogged(FileChange(ServerRecord.fileName, server.contents()))
      if let error = folder.writeFiles(of: [ServerRecord.fileName]).first { throw error }
      try Disk.syncFolder(path)
    }
    if start?.writesHistory ?? false {
      try HistoryFile.write(history, to: historyPath)
    }
    try folder.truncateTornEnd()
    if !idempotencyFile.requests.isEmpty {
      folder.putUnlogged(
        FileChange(IdempotencyFile.fileName, idempotencyFile.contents(on: clock)))
    }
    try folder.checkpoint()
    try folder.syncNames()
  }

  private mutating func record(movedTo place: String, _ fileName: FileName) {
    for index in start?.faults.indices ?? 0..<0
    where start?.faults[index].fileName == fileName {
      start?.faults[index].movedTo = place
    }
  }

  /// Why nothing can be changed, since the start is not done yet.
  public var startTrouble: StorageTrouble? {
    start?.error.map(StorageTrouble.init)
  }
}
