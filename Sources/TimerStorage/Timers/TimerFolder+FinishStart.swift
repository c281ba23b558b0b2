import Foundation

/// The changes of the folder that a start makes once everything is read.
extension TimerFolder {
  /// Does what a start has to do; a disk that refuses for now does not keep the timers from being read.
  mutating func finishLoading(
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
