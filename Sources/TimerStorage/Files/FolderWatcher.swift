import CFiles
import Dispatch
import Foundation
import Synchronization

/// Reports which files of a folder were written, moved or removed, by any process, soon after it happened.
final class FolderWatcher: Sendable {
  private let source: Mutex<any DispatchSourceRead>

  /// `changed` is called on the queue with file names; with nil when so much happened that the system lost
  /// count, and the whole folder is to be looked at. `gone` is called on the queue when the folder itself is removed,
  /// moved or unmounted: another one at its path is not watched by this.
  init(
    _ path: String, queue: DispatchQueue, changed: @escaping @Sendable ([FileName]?) -> Void,
    gone: @escaping @Sendable () -> Void = {}
  ) throws(DiskError) {
    let descriptor = files_watch_open()
    guard descriptor >= 0 else { throw DiskError("inotify", path, code: -descriptor) }
    let events =
      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
    let watch = files_watch(descriptor, path, UInt32(events) | UInt32(IN_ONLYDIR))
    guard watch >= 0 else {
      _ = files_close(descriptor)
      throw DiskError("inotify", path, code: -watch)
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { @Sendable in
      let events = Events(file.availableData)
      if events.isGone { gone() }
      if let names = events.names, names.isEmpty { return }
      changed(events.names.map(Array.init))
    }
    source.setCancelHandler { @Sendable in _ = files_close(descriptor) }
    source.resume()
    self.source = Mutex(source)
  }

  deinit {
    source.withLock { $0.cancel() }
  }
}

/// How often a folder is scanned when the system gives no watch.
enum FolderPolling {
  private static let shortestPause = 1.0
  /// The longest delay until an edit is seen, however long a scan takes.
  private static let longestPause = 10.0
  /// The pause after a scan, in multiples of the scan's duration.
  private static let restFactor = 100.0

  /// Seconds until the next look, after one of so many.
  static func pause(afterLookOf seconds: Double) -> Double {
    min(longestPause, max(shortestPause, seconds * restFactor))
  }

  /// The value of `Disk.digest`, and how many seconds it took.
  static func digest(ofFilesIn folder: String) -> (digest: UInt64, seconds: Double) {
    let start = DispatchTime.now().uptimeNanoseconds
    let digest = Disk.digest(ofFilesIn: folder, ending: FileName.ending)
    return (digest, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9)
  }
}

/// man 7 inotify: events of 16 bytes, each with a name behind it that is padded with zeros.
private struct Events {
  /// nil when the system lost count.
  private(set) var names: Set<FileName>? = []
  /// The folder is not where it was, or no more.
  private(set) var isGone = false

  private static let ends = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)

  init(_ events: Data) {
    var rest = events
    while rest.count >= 16 {
      let fields = rest.prefix(16)
      let mask = fields.number(at: 4)
      let length = Int(fields.number(at: 12))
      if mask & UInt32(IN_Q_OVERFLOW) != 0 {
        names = nil
      } else if mask & Self.ends != 0 {
        isGone = true
      } else {
        let name = rest.dropFirst(16).prefix(length).prefix { $0 != 0 }
        names?.insert(FileName(String(decoding: name, as: UTF8.self)))
      }
      rest = rest.dropFirst(16 + length)
    }
  }
}

extension Data {
  /// Four bytes as a number, in the machine's own order, which on Linux's machines here is little endian.
  fileprivate func number(at offset: Int) -> UInt32 {
    dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
