import CFiles
import Foundation

/// The mark of the one process that owns a folder; the system takes it away when the process ends,
/// however it ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock, makes its file where there is none, or says who has it.
  convenience init(_ path: String) throws(FolderError) {
    try self.init(path, lock: files_try_lock)
  }

  /// Holds off those who want to own the folder, for as long as this lives, or says who owns it.
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
      // The file may have been removed or replaced meanwhile, by a start that failed too: then the lock is of one that
      // nobody else finds.
      if let place = FilePlace(files_place_of_open(descriptor)), place == Disk.place(path) {
        locked = descriptor
      } else {
        _ = files_close(descriptor)
      }
    }
    descriptor = locked
  }

  /// Writes down which process this is, for those who find the folder locked.
  func nameOwner(_ path: String) throws(DiskError) {
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    try Disk.truncate(file, to: 0, path)
    let process = Data("\(ProcessInfo.processInfo.processIdentifier)\n".utf8)
    try Disk.write(process, to: file, at: 0, path)
  }

  /// Which file is locked; nil when it has no name any more.
  var place: FilePlace? { FilePlace(files_place_of_open(descriptor)) }

  deinit {
    _ = files_close(descriptor)
  }

  /// The process that named itself in a lock last; nil where none can be told.
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
  /// A file in it was written by a newer version of the program, which alone knows what it says.
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
