import CFiles
import Foundation

/// The mark of the one process that owns a folder; the system takes it away when the process ends,
/// however it ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Acquires the lock and creates its file if necessary; throws if another process has it.
  convenience init(_ path: String) throws(FolderError) {
    try self.init(path, lock: files_try_lock)
  }

  /// Keeps others from owning the folder as long as this lives; throws if another process owns it.
  convenience init(sharedAt path: String) throws(FolderError) {
    try self.init(path, lock: files_try_lock_shared)
  }

  private init(_ path: String, lock: (Int32) -> Int32) throws(FolderError) {
    var locked: Int32 = -1
    while locked < 0 {
      let descriptor = files_open(path, O_RDWR | O_CREAT, 0o644)
      guard descriptor >= 0 else {
        throw .disk(DiskError("open", path, code: -descriptor))
      }
      let result = lock(descriptor)
      guard result == 0 else {
        _ = files_close(descriptor)
        guard result == -EWOULDBLOCK else { throw .disk(DiskError("lock", path, code: -result)) }
        throw .owned(by: Self.owner(path))
      }
      // The file may have been removed or replaced meanwhile, by a start that failed: then the lock is of a file that
      // no other process finds.
      if let place = FilePlace(files_place_of_open(descriptor)), place == Disk.place(path) {
        locked = descriptor
      } else {
        _ = files_close(descriptor)
      }
    }
    descriptor = locked
  }

  /// Writes this process' id into the lock file, for error messages of other processes.
  func nameOwner(_ path: String) throws(DiskError) {
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    try Disk.truncate(file, to: 0, path)
    let process = Data("\(ProcessInfo.processInfo.processIdentifier)\n".utf8)
    try Disk.write(process, to: file, at: 0, path)
  }

  /// The identity of the locked file; nil when it has no name any more.
  var place: FilePlace? { FilePlace(files_place_of_open(descriptor)) }

  deinit {
    _ = files_close(descriptor)
  }

  /// The process that wrote its id into a lock file last; nil when there is none.
  static func owner(_ path: String) -> Int? {
    guard let contents = try? Disk.read(path) else { return nil }
    return Int(
      String(decoding: contents, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
  }
}

/// Why a folder can't be used.
public enum FolderError: Error, Hashable, Sendable, CustomStringConvertible {
  case disk(DiskError)
  /// Another process, by its id as far as that is known, uses it.
  case owned(by: Int?)
  /// A file in it was written by a newer version of the program.
  case newer(file: String, version: Int)

  public var description: String {
    switch self {
    case .disk(let error): "\(error)"
    case .owned(let process):
      "it is in use by " + (process.map { "the process \($0)" } ?? "another process")
    case .newer(let file, let version):
      "\(file) was written by a newer version of timersync (\(version), known are up to "
        + "\(TimerRecord.version)); start that one, or give another folder"
    }
  }
}
