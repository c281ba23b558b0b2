import CFiles
import Foundation

/// The file calls that durability needs, each with its error told.
enum Disk {
  /// Makes the folder and those above it where there are none.
  static func makeFolders(_ path: String) throws(DiskError) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw DiskError("mkdir", path, thrown: error)
    }
  }

  /// The names in a folder, `.` and `..` left out, in no order.
  static func names(in folder: String) throws(DiskError) -> [String] {
    do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      throw DiskError("read", folder, thrown: error)
    }
  }

  static func read(_ path: String) throws(DiskError) -> Data {
    let file = try open(path, O_RDONLY | O_NONBLOCK)
    do { return try file.readToEnd() ?? Data() } catch {
      throw DiskError("read", path, thrown: error)
    }
  }

  /// Makes the file with these contents, or replaces what it held; says nothing of durability.
  static func write(
    _ contents: Data, to path: String, mode: Int32 = 0o644
  ) throws(DiskError) -> FileHandle {
    let file = try open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: mode)
    do { try file.write(contentsOf: contents) } catch {
      throw DiskError("write", path, thrown: error)
    }
    return file
  }

  /// Writes at a place of an open file.
  static func write(
    _ contents: Data, to file: FileHandle, at offset: UInt64, _ path: String
  ) throws(DiskError) {
    do {
      try file.seek(toOffset: offset)
      try file.write(contentsOf: contents)
    } catch {
      throw DiskError("write", path, thrown: error)
    }
  }

  /// Cuts the file to a length.
  static func cut(_ file: FileHandle, to length: UInt64, _ path: String) throws(DiskError) {
    try check(files_truncate(file.fileDescriptor, Int64(length)), "truncate", path)
  }

  /// Returns once the file's contents and length are on the disk.
  static func syncData(_ file: FileHandle, _ path: String) throws(DiskError) {
    try check(files_fdatasync(file.fileDescriptor), "fdatasync", path)
  }

  /// Returns once the folder's names are on the disk.
  static func syncFolder(_ path: String) throws(DiskError) {
    let folder = try open(path, O_RDONLY | O_DIRECTORY)
    try check(files_fsync(folder.fileDescriptor), "fsync", path)
  }

  /// Returns once all that was written to the file system of this folder is on the disk.
  static func syncFileSystem(of folder: String) throws(DiskError) {
    let directory = try open(folder, O_RDONLY | O_DIRECTORY)
    try check(files_syncfs(directory.fileDescriptor), "syncfs", folder)
  }

  /// Holds the lock of an open file or folder until that is closed; waits for it.
  static func lock(_ file: FileHandle, alone: Bool, _ path: String) throws(DiskError) {
    try check(files_lock(file.fileDescriptor, alone ? 1 : 0), "lock", path)
  }

  static func rename(_ from: String, to target: String) throws(DiskError) {
    try check(files_rename(from, target), "rename", target)
  }

  /// What tells this state of the file from another; nil when there is no file.
  static func signature(_ path: String) -> FileSignature? {
    let signature = files_signature(path)
    guard signature.inode != 0 else { return nil }
    return FileSignature(
      inode: signature.inode, size: signature.size, modified: signature.modified_nanoseconds)
  }

  /// Removes the file; one that isn't there is removed already.
  static func remove(_ path: String) throws(DiskError) {
    let result = files_unlink(path)
    guard result == 0 || result == -ENOENT else { throw DiskError("unlink", path, code: -result) }
  }

  static func open(
    _ path: String, _ flags: Int32, mode: Int32 = 0o644
  ) throws(DiskError) -> FileHandle {
    let descriptor = files_open(path, flags, mode)
    guard descriptor >= 0 else { throw DiskError("open", path, code: -descriptor) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  private static func check(
    _ result: Int32, _ operation: String, _ path: String
  ) throws(DiskError) {
    guard result == 0 else { throw DiskError(operation, path, code: -result) }
  }
}

/// Changes whenever a file is written or replaced.
struct FileSignature: Hashable {
  let inode: UInt64
  let size: Int64
  let modified: Int64
}
