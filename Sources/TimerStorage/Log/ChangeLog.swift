import Foundation

/// The write-ahead log of a folder: steps that are durable, though their files may not be written or synced yet.
///
/// One append and one sync make a whole group of steps durable, so that many are answered in the time that one file
/// takes. Entries that a crash has cut off are ignored.
struct ChangeLog {
  private let path: String
  /// nil until it is made.
  private var file: FileHandle?
  /// Bytes of whole, synced entries.
  private(set) var length: UInt64 = 0
  /// The number of times that the log restarted in the same file; entries of earlier generations, which may follow
  /// those of this one, are ignored.
  private var generation: UInt64 = 0
  /// The size of the file; behind the entries there are zeros or entries of an earlier generation.
  private var room: UInt64 = 0
  /// Entries of this generation.
  private var count = 0
  /// True if the log has to start over in another file before anything is appended: it may hold refused entries, its
  /// end is unknown, or it does not exist.
  private(set) var isInDoubt = true

  /// The contents of a log.
  struct Found {
    var steps: [FolderStep] = []
    /// The whole log, when more than its end is damaged: a crash can tear only the last group.
    var damaged: Data?
    /// The version of a log that only a newer program can read.
    var newerVersion: Int?
    /// The possible contents of each file before the entries that name it.
    var former: [FileName: FormerContents] = [:]
  }

  /// A log that is still to be made.
  init(at path: String) {
    self.path = path
  }

  /// Opens the log and gives what it holds; changes nothing, and makes none where there is none.
  static func read(_ path: String) throws(DiskError) -> (log: ChangeLog, found: Found) {
    var log = ChangeLog(at: path)
    let file: FileHandle
    do { file = try Disk.open(path, O_RDWR) } catch {
      guard error.code == ENOENT else { throw error }
      return (log, Found())
    }
    let bytes = try Disk.read(path)
    let contents = LogContents(of: bytes)
    log.file = file
    log.length = contents.length
    log.room = UInt64(bytes.count)
    log.generation = contents.generation
    log.count = contents.count
    // Behind a gap it could not be told later what was torn and what was damaged.
    log.isInDoubt = contents.hasGap
    return (log, contents.found)
  }

  /// Opens the log, makes one where there is none, and gives what it holds.
  static func open(_ path: String) throws(DiskError) -> (log: ChangeLog, found: Found) {
    var (log, found) = try read(path)
    if log.file == nil { try log.clear() }
    try log.truncateTail()
    return (log, found)
  }

  /// Reads a log that another process may be using, without changing it.
  static func steps(in path: String) throws(DiskError) -> [FolderStep] {
    LogContents(of: try Disk.read(path)).found.steps
  }

  /// The log's identity; nil when it has no name any more, or does not exist yet.
  var place: FilePlace? { file.flatMap(Disk.place(of:)) }

  var hasFile: Bool { file != nil }

  /// True if the file's size differs from what this process left.
  var isChangedByOthers: Bool { Disk.size(path).map { UInt64($0) != room } ?? false }

  /// Cuts off what lies behind the last whole entry: once a torn one is written over, it must not count again.
  mutating func truncateTail() throws(DiskError) {
    guard !isInDoubt, let file, room > length else { return }
    do {
      try truncate(file, to: length)
      try Disk.syncData(file, path)
    } catch {
      isInDoubt = true
      throw error
    }
  }

  /// Returns once the steps are on the disk; on an error the log is unchanged, or in doubt.
  ///
  /// `seen` has the possible contents of files, which become those of the steps; on an error it is unchanged.
  mutating func append(_ steps: [FolderStep], seen: inout SeenContents) throws(DiskError) {
    precondition(!isInDoubt, "a log in doubt begins anew before anything is added")
    let former = seen.former(of: steps)
    var bytes = Data()
    for (index, step) in steps.enumerated() {
      let place = LogEntry.Place(generation: generation, entry: count + index, first: count)
      LogEntry.append(step, at: place, &seen, to: &bytes)
    }
    do { try append(bytes) } catch {
      seen.restore(former)
      throw error
    }
    count += steps.count
  }

  /// As above, without a record of the files' contents.
  mutating func append(_ steps: [FolderStep]) throws(DiskError) {
    var seen = SeenContents()
    try append(steps, seen: &seen)
  }

  /// Marks the log as in doubt: its last entry was refused and could not be removed.
  mutating func markInDoubt() {
    isInDoubt = true
  }

  /// Where the entries end, to go back to.
  var end: End { End(length: length, count: count) }

  struct End {
    fileprivate let length: UInt64
    fileprivate let count: Int
  }

  /// Takes back what was appended since `end`, for good, since it was refused; where the disk does not do that, the log
  /// is in doubt.
  mutating func retract(to end: End) {
    guard let file else { return }
    (length, count) = (end.length, end.count)
    retract(file)
  }

  /// Returns when there is room for a group of changes, and the disk takes it.
  ///
  /// The room is made of zeros, which count for nothing and are written over by the next entries.
  mutating func probe() throws(DiskError) {
    precondition(!isInDoubt, "a log in doubt begins anew before anything is added")
    guard let file else { return }
    do {
      try Disk.write(Data(count: Self.probeBytes), to: file, at: length, path)
      try Disk.syncData(file, path)
    } catch {
      retract(file)
      throw error
    }
    room = max(room, length + UInt64(Self.probeBytes))
  }

  private static let probeBytes = 64 << 10

  private mutating func append(_ entries: Data) throws(DiskError) {
    guard let file else { preconditionFailure("a log that is not in doubt has a file") }
    var bytes = entries
    let end = length + UInt64(bytes.count)
    if end > room { bytes.append(Data(count: preallocatedBytes(after: end))) }
    do {
      try Disk.write(bytes, to: file, at: length, path)
      try Disk.syncData(file, path)
    } catch {
      retract(file)
      throw error
    }
    room = max(room, length + UInt64(bytes.count))
    length = end
  }

  /// Removes an append that failed; if that fails too, the log is in doubt.
  ///
  /// After a failed sync the state on the disk is unknown, and the system takes the pages for written: repeating the
  /// sync alone proves nothing. So the part of the last page that stays is written again, the rest is cut off, and the
  /// next sync has to do both.
  private mutating func retract(_ file: FileHandle) {
    do {
      let page = length / Self.pageBytes * Self.pageBytes
      let kept = try Disk.read(file, from: page, count: Int(length - page), path)
      if !kept.isEmpty { try Disk.write(kept, to: file, at: page, path) }
      try truncate(file, to: length)
      try Disk.syncData(file, path)
    } catch {
      isInDoubt = true
    }
  }

  private static let pageBytes: UInt64 = 4096

  /// Zeros to write behind the last entry. A sync of bytes that only replace others costs the disk half of one
  /// that makes a file longer; so a log that is busy grows ahead of its entries, twofold.
  private func preallocatedBytes(after end: UInt64) -> Int {
    end < Self.busyBytes ? 0 : Int(min(end, Self.preallocatedBytesMax))
  }

  private static let busyBytes: UInt64 = 16 << 10
  private static let preallocatedBytesMax: UInt64 = 4 << 20

  private mutating func truncate(_ file: FileHandle, to length: UInt64) throws(DiskError) {
    try Disk.truncate(file, to: length, path)
    room = length
  }

  /// True if no change was appended since the log began.
  var isEmpty: Bool { length <= start }
  /// Bytes of the entry that began the log, if there is one.
  private var start: UInt64 = 0

  /// Forgets all entries, as `clear` does, but keeps the room that they took: for a log that is busy, and would
  /// only have to grow again.
  mutating func restart() throws(DiskError) {
    guard !isInDoubt else { return try clear() }
    var bytes = Data()
    var seen = SeenContents()
    let place = LogEntry.Place(generation: generation + 1, entry: 0, first: 0)
    LogEntry.append(FolderStep([]), at: place, &seen, to: &bytes)
    // Where this fails the log is cut to nothing, which is as good: nothing in it is needed any more.
    forget()
    try append(bytes)
    generation += 1
    (start, count) = (length, 1)
  }

  /// Forgets all entries; their files have to be synced before.
  mutating func clear() throws(DiskError) {
    if let file, !isInDoubt {
      // This need not be durable: entries that come back after a power cut agree with the files.
      try truncate(file, to: 0)
      forget()
      return
    }
    // Another file, so that what the old one may hold is gone with it.
    try Disk.remove(path)
    let fresh = try Disk.open(path, O_RDWR | O_CREAT | O_EXCL)
    file = fresh
    room = 0
    forget()
    do { try Disk.syncFolder(Disk.parent(of: path)) } catch {
      // Another process would take this file for a durable one.
      file = nil
      try? Disk.remove(path)
      throw error
    }
    isInDoubt = false
  }

  /// Forgets all entries but begins with this step, in another file.
  mutating func begin(
    with step: FolderStep, seen: inout SeenContents
  ) throws(DiskError) {
    let former = seen.former(of: [step])
    var bytes = Data()
    let place = LogEntry.Place(generation: 0, entry: 0, first: 0)
    LogEntry.append(step, at: place, &seen, to: &bytes)
    do { try begin(with: bytes) } catch {
      seen.restore(former)
      throw error
    }
  }

  private mutating func begin(with bytes: Data) throws(DiskError) {
    let beside = path + StagedFile.ending
    try Disk.remove(beside)
    let fresh = try Disk.open(beside, O_RDWR | O_CREAT | O_EXCL)
    try Disk.write(bytes, to: fresh, at: 0, beside)
    try Disk.syncData(fresh, beside)
    try Disk.rename(beside, to: path)
    isInDoubt = true
    (file, generation) = (fresh, 0)
    forget()
    (length, room, start, count) = (
      UInt64(bytes.count), UInt64(bytes.count), UInt64(bytes.count), 1
    )
    try Disk.syncFolder(Disk.parent(of: path))
    isInDoubt = false
  }

  private mutating func forget() {
    (length, start, count) = (0, 0, 0)
  }

  /// Returns once the log is on the disk as it is: an emptied one can't come back then.
  func sync() throws(DiskError) {
    guard let file else { return }
    try Disk.syncData(file, path)
  }
}
