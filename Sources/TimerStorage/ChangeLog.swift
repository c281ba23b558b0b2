import Foundation
import JSONText

/// The log of a folder: steps that are durable, though their files may not be written or synced yet.
///
/// One append and one sync make a whole group of steps durable, which is what lets many be answered in the
/// time that one file takes. An entry is a line of JSON that tells sizes and a checksum, and the contents
/// behind it; what a crash cut off at the end counts for nothing.
struct ChangeLog {
  private let path: String
  private var file: FileHandle
  /// Bytes of whole, synced entries.
  private(set) var length: UInt64
  /// Counts how often the log began anew in the same bytes: entries of an earlier one, which may lie behind
  /// those of this one, count for nothing.
  private var generation: UInt64
  /// Bytes of the file: what lies behind the entries is zero, or of an earlier generation.
  private var room: UInt64
  /// An entry that was refused may be in the log all the same: it has to begin anew.
  private(set) var isInDoubt = false

  /// What a log holds.
  struct Found {
    var steps: [FolderStep] = []
    /// The whole log, when more than its end is damaged: a crash can tear only the last entry.
    var damaged: Data?
  }

  /// Opens the log, makes one where there is none, and gives what it holds.
  static func open(_ path: String) throws(DiskError) -> (log: ChangeLog, found: Found) {
    let file = try Disk.open(path, O_RDWR | O_CREAT)
    let bytes = try Disk.read(path)
    let (found, length, generation) = entries(in: bytes)
    if length < bytes.count {
      // What lies behind a torn entry must not count again once the torn one is written over.
      try Disk.cut(file, to: length, path)
      try Disk.syncData(file, path)
    }
    let log = ChangeLog(
      path: path, file: file, length: length, generation: generation, room: length)
    return (log, found)
  }

  /// What a log holds that somebody else may be using; it stays as it is.
  static func steps(in path: String) throws(DiskError) -> [FolderStep] {
    entries(in: try Disk.read(path)).found.steps
  }

  /// Returns once the steps are on the disk; on an error the log is what it was before, or in doubt.
  mutating func append(_ steps: [FolderStep]) throws(DiskError) {
    precondition(!isInDoubt, "a log in doubt begins anew before anything is added")
    var bytes = Data()
    for step in steps { Self.append(step, generation, to: &bytes) }
    try append(bytes)
  }

  private mutating func append(_ entries: Data) throws(DiskError) {
    var bytes = entries
    let end = length + UInt64(bytes.count)
    if end > room { bytes.append(Data(count: roomAhead(of: end))) }
    do {
      try Disk.write(bytes, to: file, at: length, path)
      try Disk.syncData(file, path)
    } catch {
      // After a failed sync nobody knows what the disk has. Cutting the entry off makes it certain again,
      // unless that fails too.
      do {
        try cut(to: length)
        try Disk.syncData(file, path)
      } catch {
        isInDoubt = true
      }
      throw error
    }
    room = max(room, length + UInt64(bytes.count))
    length = end
  }

  /// Zeros to write behind the last entry. A sync of bytes that only replace others costs the disk half of one
  /// that makes a file longer; so a log that is busy grows ahead of its entries, twofold.
  private func roomAhead(of end: UInt64) -> Int {
    end < Self.busyBytes ? 0 : Int(min(end, Self.roomAheadMax))
  }

  private static let busyBytes: UInt64 = 16 << 10
  private static let roomAheadMax: UInt64 = 4 << 20

  private mutating func cut(to length: UInt64) throws(DiskError) {
    try Disk.cut(file, to: length, path)
    room = length
  }

  /// Whether a change is in it.
  var isEmpty: Bool { length <= start }
  /// Bytes of the entry that began the log anew, if one did.
  private var start: UInt64 = 0

  /// Forgets all entries, as `clear` does, but keeps the room that they took: for a log that is busy, and would
  /// only have to grow again.
  mutating func beginAnew() throws(DiskError) {
    guard !isInDoubt else { return try clear() }
    var bytes = Data()
    Self.append(FolderStep([]), generation + 1, to: &bytes)
    // Where this fails the log is cut to nothing, which is as good: nothing in it is needed any more.
    (length, start) = (0, 0)
    try append(bytes)
    generation += 1
    start = length
  }

  /// Forgets all entries; their files have to be synced before.
  mutating func clear() throws(DiskError) {
    guard isInDoubt else {
      // That need not be durable: entries that came back after a power cut say what the files say.
      try cut(to: 0)
      (length, start) = (0, 0)
      return
    }
    // Another file, so that what the old one may hold is gone with it.
    try Disk.remove(path)
    file = try Disk.open(path, O_RDWR | O_CREAT)
    try Disk.syncFolder((path as NSString).deletingLastPathComponent)
    (length, start, room) = (0, 0, 0)
    isInDoubt = false
  }

  /// Returns once the log is on the disk as it is: an emptied one can't come back then.
  func sync() throws(DiskError) {
    try Disk.syncData(file, path)
  }

  // MARK: Entries

  private struct Head: Decodable {
    let files: [File]
    /// Missing before logs began anew in the same bytes.
    let generation: UInt64?
    let checksum: UInt64

    struct File: Decodable {
      let name: String
      /// nil: the file is to go.
      let bytes: Int?
    }
  }

  private static func append(_ step: FolderStep, _ generation: UInt64, to bytes: inout Data) {
    var head = JSONWriter(capacity: 128)
    head.object { writer in
      writer.array("files", step.changes) { writer, change in
        writer.object {
          $0.member("name", change.fileName.text)
          if let contents = change.contents { $0.member("bytes", contents.count) }
        }
      }
      writer.member("generation", generation)
      writer.member("checksum", checksum(of: step.changes))
    }
    bytes.append(contentsOf: head.bytes)
    bytes.append(UInt8(ascii: "\n"))
    for case let contents? in step.changes.map(\.contents) { bytes.append(contents) }
  }

  /// Every whole entry of the newest generation, and how many bytes there are up to the end of the last one.
  /// Entries behind a damaged one count: each was answered.
  private static func entries(
    in bytes: Data
  ) -> (found: Found, length: UInt64, generation: UInt64) {
    let all = wholeEntries(in: bytes)
    let generation = all.map(\.generation).max() ?? 0
    let entries = all.filter { $0.generation == generation }
    var end = bytes.startIndex
    var isDamaged = false
    for entry in entries {
      isDamaged = isDamaged || entry.range.lowerBound != end
      end = entry.range.upperBound
    }
    if entries.isEmpty {
      isDamaged = !bytes.isEmpty && bytes.first != 0 && !bytes.starts(with: mark)
    }
    let found = Found(steps: entries.map(\.step), damaged: isDamaged ? bytes : nil)
    return (found, UInt64(end - bytes.startIndex), generation)
  }

  private struct Entry {
    let step: FolderStep
    let generation: UInt64
    let range: Range<Data.Index>
  }

  private static func wholeEntries(in bytes: Data) -> [Entry] {
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
        Entry(step: step, generation: head.generation ?? 0, range: start..<rest.startIndex))
    }
    return entries
  }

  /// How each entry begins.
  private static let mark = Data("{\"files\":[".utf8)

  private static func step(_ head: Head, _ bytes: Data) -> FolderStep? {
    var rest = bytes
    var changes: [FileChange] = []
    for file in head.files {
      // One by one, because a damaged head may tell sizes whose sum is no number.
      guard 0...rest.count ~= file.bytes ?? 0 else { return nil }
      changes.append(FileChange(FileName(file.name), file.bytes.map { Data(rest.prefix($0)) }))
      rest = rest.dropFirst(file.bytes ?? 0)
    }
    return checksum(of: changes) == head.checksum ? FolderStep(changes) : nil
  }

  /// FNV-1a, against what a crash tears: nobody forges one's own log.
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

  private struct Checksum {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ byte: UInt8) {
      value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
  }
}
