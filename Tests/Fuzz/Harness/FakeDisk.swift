import Foundation
import TimerCore

@testable import TimerStorage

/// A simulated disk, which stores or refuses pending writes when the script says so.
struct FakeDisk {
  private(set) var pending: [StoredChange] = []
  private(set) var records: [TimerID: TimerRecord] = [:]
  private(set) var server = ServerRecord()
  /// The highest revision that was ever on the disk.
  private(set) var highestRevision = 0
  /// The highest revision that this server was seen to give, durable or not.
  private var highestGiven = 0
  private var failed: Set<UInt64> = []

  static let full = DiskError("write", "/data/log", code: 28)

  var contents: TimerFolder.Contents {
    var contents = TimerFolder.Contents()
    contents.timers = records.values.sorted { $0.timer.id < $1.timer.id }
    contents.server = server
    return contents
  }

  mutating func submit(_ writes: [StoredChange]) {
    for write in writes {
      checkRevisions(of: write)
      pending.append(write)
    }
  }

  /// Stores or refuses the first writes, and reports on them; a write that is based on a refused one is refused too.
  mutating func finish(_ count: Int, refusing: Bool) -> [StoreReport] {
    let writes = pending.prefix(max(0, count))
    pending.removeFirst(writes.count)
    return writes.map { write in
      guard !refusing, failed.isDisjoint(with: write.bases) else {
        failed.insert(write.ticket)
        return StoreReport(ticket: write.ticket, outcome: .failed(StorageTrouble(Self.full)))
      }
      keep(write)
      return StoreReport(ticket: write.ticket, outcome: .made)
    }
  }

  /// The server was killed: pending writes are lost.
  mutating func lose() {
    pending = []
    failed = []
    highestGiven = highestRevision
  }

  /// The record that somebody wrote into a timer's file; nil when it is not the JSON of a timer.
  static func record(_ contents: [UInt8], of id: TimerID) -> Result<TimerRecord, RecordFault> {
    Result { () throws(RecordFault) in try TimerRecord(contents: Data(contents), id: id) }
  }

  private mutating func keep(_ write: StoredChange) {
    if let server = write.server { self.server = server }
    for (id, record) in write.timers {
      records[id] = record.map { reread($0) }
      highestRevision = max(highestRevision, record?.timer.revision ?? 0)
    }
  }

  /// Reads a record back from its file's contents, which have to be the same when they are written again.
  private func reread(_ record: TimerRecord) -> TimerRecord {
    switch Self.record(Array(record.contents()), of: record.timer.id) {
    case .success(let read):
      require(read.contents() == record.contents(), "a file changes when it is read and written")
      return read
    case .failure(let fault): fail("a timer's own file is refused: \(fault)")
    }
  }

  private mutating func checkRevisions(of write: StoredChange) {
    let before = highestGiven
    for case let record? in write.timers.values {
      let revision = record.timer.revision
      // The mark that a late end was delivered writes a timer again under its revision.
      let isAgain = write.timers.count == 1 && revision <= before && write.server == nil
      require(revision > before || isAgain, "revision \(revision) is given twice")
      highestGiven = max(highestGiven, revision)
    }
  }
}

/// Ends the process; the fuzzer then keeps the input as a crash.
func fail(_ why: String) -> Never { fatalError(why) }

func require(_ condition: Bool, _ why: @autoclosure () -> String) {
  if !condition { fail(why()) }
}
