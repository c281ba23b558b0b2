import Foundation
import JSONText

/// The write-ahead log of a folder: steps that are durable, though their files may not be written or synced yet.
///
/// One append and one sync make a whole group of steps durable, so that many are answered in the time that one file
/// takes. An entry is a line of JSON with sizes and a checksum, followed by the contents. Entries that a crash has cut
/// off are ignored.
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

  /// The version of the entries that are written; all before it can be read.
  static let version = 1

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
    let contents = Contents(of: bytes)
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
    Contents(of: try Disk.read(path)).found.steps
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
      let place = EntryPlace(generation: generation, entry: count + index, first: count)
      Self.append(step, place, &seen, to: &bytes)
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
    if end > room { bytes.append(Data(count: roomAhead(of: end))) }
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
  private func roomAhead(of end: UInt64) -> Int {
    end < Self.busyBytes ? 0 : Int(min(end, Self.roomAheadMax))
  }

  private static let busyBytes: UInt64 = 16 << 10
  private static let roomAheadMax: UInt64 = 4 << 20

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
    let place = EntryPlace(generation: generation + 1, entry: 0, first: 0)
    Self.append(FolderStep([]), place, &seen, to: &bytes)
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
    Self.append(step, EntryPlace(generation: 0, entry: 0, first: 0), &seen, to: &bytes)
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

  // MARK: Entries

  private struct Head: Decodable {
    /// Missing before a newer one was thought of: 1.
    let version: Int?
    let files: [File]
    /// Missing in logs from before generations.
    let generation: UInt64?
    /// The entry's number in its generation; missing, like `first`, in older logs.
    let entry: Int?
    /// The first entry of the group, which is what one append wrote.
    let first: Int?
    let checksum: UInt64

    struct File: Decodable {
      let name: String
      /// nil: the file is to go.
      let bytes: Int?
      /// True if someone else had removed it.
      let gone: Bool?
      /// Hashes of its possible earlier contents; missing in logs of older versions.
      let was: [UInt64]?
    }
  }

  /// Where in the log an entry is.
  private struct EntryPlace {
    let generation: UInt64
    let entry: Int
    let first: Int
  }

  private static func append(
    _ step: FolderStep, _ place: EntryPlace, _ seen: inout SeenContents, to bytes: inout Data
  ) {
    var head = JSONWriter(capacity: 128)
    head.object { writer in
      writer.array("files", step.changes) { writer, change in
        writer.object {
          $0.member("name", change.fileName.text)
          if let contents = change.contents { $0.member("bytes", contents.count) }
          if change.isGoneAlready { $0.member("gone", true) }
          if let was = seen.replace(change) {
            let hashes = was.map { "\($0)" }.joined(separator: ",")
            $0.member("was", verbatim: Array("[\(hashes)]".utf8))
          }
        }
      }
      writer.member("version", version)
      writer.member("generation", place.generation)
      writer.member("entry", place.entry)
      writer.member("first", place.first)
      writer.member("checksum", checksum(of: step.changes))
    }
    bytes.append(contentsOf: head.bytes)
    bytes.append(UInt8(ascii: "\n"))
    for case let contents? in step.changes.map(\.contents) { bytes.append(contents) }
  }

  /// Every whole entry of the newest generation. Entries behind a damaged one count: each was answered.
  private struct Contents {
    var found = Found()
    /// Up to the end of the last whole entry.
    private(set) var length: UInt64 = 0
    private(set) var generation: UInt64 = 0
    /// Entries, those that are missing between others too.
    private(set) var count = 0
    /// Something that is no whole entry lies before one.
    private(set) var hasGap = false

    init(of bytes: Data) {
      let all = completeEntries(in: bytes)
      found.newerVersion = ChangeLog.newerVersion(bytes)
      generation = all.map(\.generation).max() ?? 0
      let entries = all.filter { $0.generation == generation }
      found.steps = entries.map(\.step)
      for file in entries.flatMap(\.files) {
        found.former[FileName(file.name), default: FormerContents(isKnown: file.was != nil)]
          .hashes.formUnion(file.was ?? [])
      }
      count = (entries.last?.entry).map { $0 + 1 } ?? entries.count
      var end = bytes.startIndex
      var previous: Entry?
      var isDamaged = false
      for entry in entries {
        if entry.range.lowerBound != end {
          hasGap = true
          isDamaged = isDamaged || !isTorn(between: previous, entry, of: entries, bytes)
        }
        end = entry.range.upperBound
        previous = entry
      }
      length = UInt64(end - bytes.startIndex)
      if entries.isEmpty { isDamaged = !Self.isTornBeginning(bytes) }
      if isDamaged { found.damaged = bytes }
    }

    /// Returns whether a crash may have left this of the first entry: nothing, its first bytes, or a whole block that
    /// was never written.
    private static func isTornBeginning(_ bytes: Data) -> Bool {
      bytes.starts(with: mark) || mark.starts(with: bytes)
        || bytes.prefix(blockSize).allSatisfy { $0 == 0 }
    }

    /// The smallest unit that a disk writes.
    private static let blockSize = 512

    /// Returns whether a crash may have done what is between two entries: it tears nothing but what was written last,
    /// of which nothing was answered. Of a group it may leave any part.
    private func isTorn(
      between before: Entry?, _ after: Entry, of entries: [Entry], _ bytes: Data
    ) -> Bool {
      if before == nil, bytes.starts(with: beginning), after.entry != 0 {
        // The log was about to restart: all of these are in their files.
        return true
      }
      guard let first = entries.last?.first, after.first == first else { return false }
      guard let before else { return first == 0 }
      return before.entry.map { $0 + 1 >= first } ?? false
    }
  }

  private struct Entry {
    let step: FolderStep
    let files: [Head.File]
    let generation: UInt64
    let entry: Int?
    let first: Int?
    let range: Range<Data.Index>
  }

  private static func newerVersion(_ bytes: Data) -> Int? {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard line.count < 64 << 10, line.first == UInt8(ascii: "{"),
      let version = try? JSONDecoder().decode(TimerFileVersion.self, from: line).version
    else { return nil }
    return version > Self.version ? version : nil
  }

  private static func completeEntries(in bytes: Data) -> [Entry] {
    var entries: [Entry] = []
    var rest = bytes[...]
    while let start = rest.firstRange(of: mark)?.lowerBound {
      rest = rest[start...]
      guard let line = rest.firstIndex(of: UInt8(ascii: "\n")),
        let head = try? JSONDecoder().decode(Head.self, from: rest[..<line]),
        let step = step(head, rest[rest.index(after: line)...])
      else {
        rest = rest.dropFirst(mark.count)
        continue
      }
      let size = head.files.reduce(0) { $0 + ($1.bytes ?? 0) }
      rest = rest[rest.index(after: line)...].dropFirst(size)
      entries.append(
        Entry(
          step: step, files: head.files, generation: head.generation ?? 0, entry: head.entry,
          first: head.first, range: start..<rest.startIndex))
    }
    return entries
  }

  /// The first bytes of every entry.
  private static let mark = Data("{\"files\":[".utf8)
  /// The first bytes of the entry that begins a log.
  private static let beginning = Data("{\"files\":[]".utf8)

  private static func step(_ head: Head, _ bytes: Data) -> FolderStep? {
    var rest = bytes
    var changes: [FileChange] = []
    for file in head.files {
      // One at a time, because the sum of a damaged head's sizes may overflow.
      guard 0...rest.count ~= file.bytes ?? 0 else { return nil }
      changes.append(
        FileChange(
          FileName(file.name), file.bytes.map { Data(rest.prefix($0)) },
          isGoneAlready: file.gone ?? false))
      rest = rest.dropFirst(file.bytes ?? 0)
    }
    return checksum(of: changes) == head.checksum ? FolderStep(changes) : nil
  }

  /// FNV-1a, against torn writes; forging one's own log gains nothing.
  private static func checksum(of changes: [FileChange]) -> UInt64 {
    var hash = Checksum()
    for change in changes {
      for byte in change.fileName.text.utf8 { hash.add(byte) }
      hash.add(0xff)
      // As an array, which is walked far faster than `Data`.
      for byte in Array(change.contents ?? Data()) { hash.add(byte) }
    }
    return hash.value
  }

}

/// FNV-1a.
private struct Checksum {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }
}

/// A file's possible contents before the entries of a log that name it.
struct FormerContents: Equatable {
  /// True if the log records this; older logs do not.
  let isKnown: Bool
  /// 0 stands for no file.
  var hashes: Set<UInt64> = []

  init(isKnown: Bool) {
    self.isKnown = isKnown
  }
}

/// Hashes of all contents that value files may have had since the last sync: a power cut may leave any of them.
///
/// Modification times can't tell whose a file is: a sync need not keep the time, a new mode changes it, and clocks are
/// set back.
struct SeenContents {
  /// True if a file without hashes did not exist.
  var isComplete = false
  private var hashes: [FileName: [UInt64]] = [:]

  /// Of the earliest and the latest; more than a few are seen only of a file that others write all the time.
  private static let hashesMax = 16

  /// Never 0, which stands for no file.
  static func hash(_ contents: Data) -> UInt64 {
    var hash = Checksum()
    for byte in Array(contents) { hash.add(byte) }
    return max(1, hash.value)
  }

  /// Records an entry of the log for a file. Returns the file's possible contents before that, if they are known.
  mutating func replace(_ change: FileChange) -> [UInt64]? {
    guard change.fileName.isValue else { return nil }
    var was = hashes[change.fileName] ?? (isComplete ? [0] : nil)
    if was?.isEmpty == true { was = nil }
    hashes[change.fileName] = [change.contents.map(Self.hash) ?? 0]
    return was
  }

  /// The state of the steps' files, to restore it if the log does not accept the steps.
  func former(of steps: [FolderStep]) -> Former {
    var former = Former()
    for change in steps.flatMap(\.changes) where change.fileName.isValue {
      former.hashes.updateValue(hashes[change.fileName], forKey: change.fileName)
    }
    return former
  }

  /// The steps are not to count: their files hold what they held before.
  mutating func restore(_ former: Former) {
    for (fileName, seen) in former.hashes { hashes[fileName] = seen }
  }

  /// The recorded state of some files.
  struct Former {
    fileprivate var hashes: [FileName: [UInt64]?] = [:]
  }

  /// The file was read, or is to be this without an entry.
  mutating func record(_ contents: Data?, of fileName: FileName) {
    record(contents.map(Self.hash) ?? 0, of: fileName)
  }

  /// Records that a file exists and can't be read, so that its contents are unknown.
  mutating func recordUnreadable(_ fileName: FileName) {
    if fileName.isValue { hashes[fileName] = [] }
  }

  /// The same by its hash.
  mutating func record(_ hash: UInt64, of fileName: FileName) {
    guard fileName.isValue else { return }
    var seen = hashes[fileName] ?? []
    guard seen.last != hash else { return }
    if seen.count == Self.hashesMax { seen.remove(at: Self.hashesMax / 2) }
    hashes[fileName] = seen + [hash]
  }

  /// All files were synced: nothing older is on the disk any more.
  mutating func recordSync() {
    for (fileName, seen) in hashes where seen.count > 1 { hashes[fileName] = seen.suffix(1) }
    hashes = hashes.filter { $0.value != [0] || !isComplete }
  }
}
