import Foundation
import TimerCore

/// How a change is stored in files.
extension StoredChange {
  func step(_ contents: inout ServerContents) -> FolderStep {
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
struct ServerContents {
  private var last: (server: ServerRecord, contents: Data)?

  mutating func of(_ server: ServerRecord) -> Data {
    if let last, last.server == server { return last.contents }
    let contents = server.contents()
    last = (server, contents)
    return contents
  }
}
