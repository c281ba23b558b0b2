import CFiles
import Foundation

/// The file operations that durability needs, each with its error.
enum Disk {
  /// Creates the folder and missing parents. Returns the folders whose entries have to be synced afterwards, the
  /// outermost first: each one that holds a new folder.
  @discardableResult
  static func makeFolders(_ path: String) throws(DiskError) -> [String] {
    var made: [String] = []
    return try makeFolders(path, made: &made)
  }

  /// As above; `made` receives the folders that this call created, the outermost first.
  @discardableResult
  static func makeFolders(
    _ path: String, made: inout [String]
  ) throws(DiskError) -> [String] {
    let missing = missingFolders(path)
    for folder in missing {
      let result = files_mkdir(folder, 0o777)
      guard result == 0 || result == -EEXIST else {
        throw DiskError("mkdir", folder, code: -result)
      }
      if result == 0 { made.append(folder) }
    }
    // Opening a file in the folder's place as a folder reports the error.
    if missing.isEmpty { _ = try open(path, O_RDONLY | O_DIRECTORY) }
    return missing.map(parent)
  }

  /// Those of the folder and the ones above it that are not there, the outermost first.
  static func missingFolders(_ path: String) -> [String] {
    var missing: [String] = []
    var place = path
    while !place.isEmpty, place != "/", files_place(place).links == 0 {
      missing.append(place)
      place = parent(of: place)
    }
    return missing.reversed()
  }

  /// Takes back folders that were made, the outermost first in the list; those that hold something stay.
  static func removeEmptyFolders(_ paths: [String]) {
    for path in paths.reversed() { _ = files_rmdir(path) }
  }

  /// The target of a symbolic link at the path; nil if there is none.
  static func target(ofLink path: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: path)
  }

  /// The folder that a path is in.
  static func parent(of path: String) -> String {
    let parent = (path as NSString).deletingLastPathComponent
    return parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
  }

  /// The names in a folder, `.` and `..` left out, in no order.
  static func names(in folder: String) throws(DiskError) -> [String] {
    // Opened first, since the system's own words are lost below.
    _ = try openFolder(folder)
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

  /// Creates the file with these contents, or replaces the present ones; not durable by itself.
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

  /// Reads a part of an open file.
  static func read(
    _ file: FileHandle, from offset: UInt64, count: Int, _ path: String
  ) throws(DiskError) -> Data {
    do {
      try file.seek(toOffset: offset)
      return try file.read(upToCount: count) ?? Data()
    } catch {
      throw DiskError("read", path, thrown: error)
    }
  }

  /// Cuts the file to a length.
  static func truncate(_ file: FileHandle, to length: UInt64, _ path: String) throws(DiskError) {
    try check(files_truncate(file.fileDescriptor, Int64(length)), "truncate", path)
  }

  /// Returns once the file's contents and length are on the disk.
  static func syncData(_ file: FileHandle, _ path: String) throws(DiskError) {
    try check(files_fdatasync(file.fileDescriptor), "fdatasync", path)
  }

  /// Returns once the folder's names are on the disk.
  static func syncFolder(_ path: String) throws(DiskError) {
    let folder = try open(path, O_RDONLY | O_DIRECTORY)
    let result = files_fsync(folder.fileDescriptor)
    // Some file systems have no sync of a folder, and report that.
    if isOfMissingCall(-result) { return }
    try check(result, "fsync", path)
  }

  /// Returns whether this errno means that the file system, or the system, lacks the call.
  private static func isOfMissingCall(_ code: Int32) -> Bool {
    code == EINVAL || code == ENOSYS || code == EOPNOTSUPP || code == ENOTTY
  }

  /// As `syncFileSystem(of:)`, or, where there is no such call, of these files and the names in the folder.
  static func syncFileSystem(
    of folder: FileHandle, _ path: String, orFiles files: @autoclosure () -> [String]
  ) throws(DiskError) {
    do { try syncFileSystem(of: folder, path) } catch {
      guard isOfMissingCall(error.code) else { throw error }
      for file in files() {
        let open: FileHandle
        do { open = try Disk.open(file, O_RDONLY | O_NONBLOCK) } catch {
          if error.code == ENOENT { continue }
          throw error
        }
        try sync(open, file)
      }
      try syncFolder(path)
    }
  }

  /// Returns once everything written to the file system of this open folder is on the disk.
  ///
  /// The system reports an error once to each open folder: one that is opened only for this call misses errors that
  /// were reported before.
  static func syncFileSystem(of folder: FileHandle, _ path: String) throws(DiskError) {
    try check(files_syncfs(folder.fileDescriptor), "syncfs", path)
  }

  static func openFolder(_ path: String) throws(DiskError) -> FileHandle {
    try open(path, O_RDONLY | O_DIRECTORY)
  }

  /// Holds the lock of an open file or folder until that is closed; waits for it.
  static func lock(_ file: FileHandle, alone: Bool, _ path: String) throws(DiskError) {
    try check(files_lock(file.fileDescriptor, alone ? 1 : 0), "lock", path)
  }

  static func rename(_ from: String, to target: String) throws(DiskError) {
    try check(files_rename(from, target), "rename", target)
  }

  /// The file's state, to detect changes; nil when there is no file.
  static func signature(_ path: String) -> FileSignature? {
    let signature = files_signature(path)
    guard signature.inode != 0 else { return nil }
    return FileSignature(
      inode: signature.inode, size: signature.size, modified: signature.modified_nanoseconds)
  }

  /// A number that changes when a file with this extension is written, added or removed in the folder; 0 if the folder
  /// can't be read.
  static func digest(ofFilesIn folder: String, ending: String) -> UInt64 {
    UInt64(files_folder_digest(folder, ending))
  }

  /// Returns whether this is a folder, a socket or the like, and no file.
  ///
  /// So is what a link leads to.
  static func isNoFile(_ path: String) -> Bool {
    let kind = files_kind(path)
    return kind.is_there != 0 && kind.is_file == 0
  }

  /// The bytes of the file that a path leads to; nil when there is none.
  static func size(_ path: String) -> Int64? {
    let kind = files_kind(path)
    return kind.is_file != 0 ? kind.size : nil
  }

  /// Sets when an open file was written last, in nanoseconds since 1970.
  static func setModified(_ file: FileHandle, _ time: Int64, _ path: String) throws(DiskError) {
    try check(files_set_modified(file.fileDescriptor, time), "futimens", path)
  }

  /// Returns once the file is on the disk with its times.
  static func sync(_ file: FileHandle, _ path: String) throws(DiskError) {
    try check(files_fsync(file.fileDescriptor), "fsync", path)
  }

  /// The file's modification and change times; nil when there is no file.
  static func times(_ path: String) -> (modified: Int64, changed: Int64)? {
    let signature = files_signature(path)
    guard signature.inode != 0 else { return nil }
    return (signature.modified_nanoseconds, signature.changed_nanoseconds)
  }

  /// The identity of the file or folder that a path leads to; nil when there is none.
  static func place(_ path: String) -> FilePlace? {
    FilePlace(files_place(path))
  }

  /// The identity of an open file or folder; nil when it has no name any more.
  static func place(of file: FileHandle) -> FilePlace? {
    FilePlace(files_place_of_open(file.fileDescriptor))
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

/// Names a file or folder for as long as it is there, whatever its path.
struct FilePlace: Hashable {
  let device: UInt64
  let inode: UInt64

  init?(_ place: files_place) {
    guard place.links > 0 else { return nil }
    device = UInt64(place.device)
    inode = UInt64(place.inode)
  }
}

/// Changes whenever a file is written or replaced.
struct FileSignature: Hashable {
  let inode: UInt64
  let size: Int64
  let modified: Int64
}

/// The state of the file that a path leads to through all links, to detect changes without reading it.
struct FileState: Equatable {
  private let error: Int32
  private let place: [UInt64]
  private let size: Int64
  private let modified: Int64
  private let changed: Int64
  /// True if it changed so recently that another change may have the same time.
  let isFresh: Bool

  /// Some file systems date by ticks of two seconds, and what looks needs a moment too.
  private static let freshNanoseconds: Int64 = 3_000_000_000

  init(_ path: String, at now: Date = Date()) {
    let state = files_state(path)
    error = state.error
    place = [state.device, state.inode]
    size = state.size
    modified = state.modified_nanoseconds
    changed = state.changed_nanoseconds
    let age = Int64(now.timeIntervalSince1970 * 1e9) - changed
    isFresh = error == 0 && age < Self.freshNanoseconds
  }

  static func == (left: Self, right: Self) -> Bool {
    left.error == right.error && left.place == right.place && left.size == right.size
      && left.modified == right.modified && left.changed == right.changed
  }
}
