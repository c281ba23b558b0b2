import Foundation
import JSONText
import SharedAlgorithms

/// An entry of the log: a line of JSON with sizes and a checksum, followed by the contents of a step's files.
struct LogEntry {
  let step: FolderStep
  /// The files as the line names them, with the hashes of their earlier contents.
  let files: [Head.File]
  let generation: UInt64
  let entry: Int?
  let first: Int?
  /// The entry's bytes in the log.
  let range: Range<Data.Index>

  /// The version of the entries that are written; all before it can be read.
  static let version = 1

  /// Where in the log an entry is.
  struct Place {
    let generation: UInt64
    let entry: Int
    let first: Int
  }

  /// The line of an entry, as it is read.
  struct Head: Decodable {
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

  // MARK: Writing

  /// Appends the bytes of a step's entry, and records the contents that its files get.
  static func append(
    _ step: FolderStep, at place: Place, _ seen: inout SeenContents, to bytes: inout Data
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

  /// A hash against torn writes; forging one's own log gains nothing.
  private static func checksum(of changes: [FileChange]) -> UInt64 {
    var hash = FNV1a()
    for change in changes {
      hash.combine(change.fileName.text.utf8)
      hash.combine(0xff)
      // As an array, which is walked far faster than `Data`.
      hash.combine(Array(change.contents ?? Data()))
    }
    return hash.value
  }

  // MARK: Reading

  /// All whole entries in the bytes of a log, of every generation.
  static func all(in bytes: Data) -> [LogEntry] {
    var entries: [LogEntry] = []
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
        LogEntry(
          step: step, files: head.files, generation: head.generation ?? 0, entry: head.entry,
          first: head.first, range: start..<rest.startIndex))
    }
    return entries
  }

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

  /// The version of a log that only a newer program can read; nil for any other.
  static func newerVersion(of bytes: Data) -> Int? {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard line.count < 64 << 10, line.first == UInt8(ascii: "{"),
      let version = try? JSONDecoder().decode(TimerFileVersion.self, from: line).version
    else { return nil }
    return version > Self.version ? version : nil
  }

  /// The first bytes of every entry.
  static let mark = Data("{\"files\":[".utf8)
  /// The first bytes of the entry that begins a log.
  static let beginning = Data("{\"files\":[]".utf8)
}
