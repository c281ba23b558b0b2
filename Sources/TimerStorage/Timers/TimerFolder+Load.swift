import Foundation
import TimerCore

/// Reads the timers and the server's record.
extension TimerFolder {
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

  // MARK: Files

  mutating func scan(_ name: FileName) -> Result<TimerRecord, RecordFault> {
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

  mutating func read(inFile fileName: FileName) throws(RecordFault) -> Data {
    do { return try folder.readFile(fileName, atMost: Self.bytesMax) } catch {
      throw Self.fault(of: error)
    }
  }

  /// The largest timer's file that is read; the largest valid one is far smaller.
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
}
