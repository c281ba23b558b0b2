import Foundation
import TimerCore

/// The log of earlier processes: which of its changes count, and the idempotency records in it.
extension TimerFolder {
  /// Decides for each file of the log whether the log's last entry counts, or a newer file on the disk.
  mutating func replay(_ found: ChangeLog.Found, isOwn: Bool) throws(FolderError) {
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
  mutating func restoreIdempotencyFile(_ steps: [FolderStep]) throws(FolderError) {
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
}
