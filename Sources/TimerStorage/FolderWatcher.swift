import CFiles
import Dispatch
import Foundation
import Synchronization

/// Tells which files of a folder were written, moved or removed, by whomever, soon after it happened.
final class FolderWatcher: Sendable {
  private let source: Mutex<any DispatchSourceRead>

  /// `changed` is called on the queue with file names; with nil when so much happened that the system lost
  /// count, and the whole folder is to be looked at.
  init(
    _ path: String, queue: DispatchQueue, changed: @escaping @Sendable ([FileName]?) -> Void
  ) throws(DiskError) {
    let descriptor = files_watch_open()
    guard descriptor >= 0 else { throw DiskError("inotify", path, code: -descriptor) }
    let events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
    let watch = files_watch(descriptor, path, UInt32(events))
    guard watch >= 0 else {
      _ = files_close(descriptor)
      throw DiskError("inotify", path, code: -watch)
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { @Sendable in
      changed(Self.names(in: file.availableData))
    }
    source.setCancelHandler { @Sendable in _ = files_close(descriptor) }
    source.resume()
    self.source = Mutex(source)
  }

  deinit {
    source.withLock { $0.cancel() }
  }

  /// man 7 inotify: events of 16 bytes, each with a name behind it that is padded with zeros.
  private static func names(in events: Data) -> [FileName]? {
    var names: Set<FileName> = []
    var rest = events
    while rest.count >= 16 {
      let fields = rest.prefix(16)
      if fields.number(at: 4) & UInt32(IN_Q_OVERFLOW) != 0 { return nil }
      let length = Int(fields.number(at: 12))
      let name = rest.dropFirst(16).prefix(length).prefix { $0 != 0 }
      names.insert(FileName(String(decoding: name, as: UTF8.self)))
      rest = rest.dropFirst(16 + length)
    }
    return Array(names)
  }
}

extension Data {
  /// Four bytes as a number, in the machine's own order, which on Linux's machines here is little endian.
  fileprivate func number(at offset: Int) -> UInt32 {
    dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
