import CFiles
import Foundation

/// The mark of the one process that owns a folder; the system takes it away when the process ends,
/// however it ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock, or says who has it.
  convenience init(_ path: String) throws(FolderError) {
    try self.init(path, lock: files_try_lock)
    do {
      _ = files_truncate(descriptor, 0)
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
      try file.write(contentsOf: Data("\(ProcessInfo.processInfo.processIdentifier)\n".utf8))
    } catch {
      throw .disk(DiskError("write", path, thrown: error))
    }
  }

  /// Holds off those who want to own the folder, for as long as this lives, or says who owns it.
  convenience init(sharedAt path: String) throws(FolderError) {
    try self.init(path, lock: files_try_lock_shared)
  }

  private init(_ path: String, lock: (Int32) -> Int32) throws(FolderError) {
    descriptor = files_open(path, O_RDWR | O_CREAT, 0o644)
    guard descriptor >= 0 else {
      throw .disk(DiskError("open", path, code: -descriptor))
    }
    let result = lock(descriptor)
    guard result == 0 else {
      guard result == -EWOULDBLOCK else { throw .disk(DiskError("lock", path, code: -result)) }
      throw .owned(by: Self.owner(path))
    }
  }

  deinit {
    _ = files_close(descriptor)
  }

  private static func owner(_ path: String) -> Int? {
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

  public var description: String {
    switch self {
    case .disk(let error): "\(error)"
    case .owned(let process):
      "it is in use by " + (process.map { "the process \($0)" } ?? "another process")
    }
  }
}
