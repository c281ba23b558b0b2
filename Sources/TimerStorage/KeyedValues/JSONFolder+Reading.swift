public import Foundation

/// The files as they are, or will be, and what others have changed.
extension JSONFolder {
  /// The names of the value files, sorted.
  public func fileNames() throws(DiskError) -> [FileName] {
    try names().filter(\.isValue).sorted()
  }

  private func names() throws(DiskError) -> [FileName] {
    var names = Set(try Disk.names(in: path).map { FileName($0) })
    for (name, contents) in unwritten {
      if contents == nil { names.remove(name) } else { names.insert(name) }
    }
    return Array(names)
  }

  /// Reads a file's next contents. Only a later state of the file counts as a change from here on.
  public mutating func read(_ fileName: FileName) throws(DiskError) -> Data {
    try read(fileName, atMost: .max)
  }

  /// As above; a file of more bytes is not read.
  mutating func read(_ fileName: FileName, atMost bytesMax: Int) throws(DiskError) -> Data {
    if let contents = unwritten[fileName] {
      guard let contents else { throw DiskError("open", filePath(fileName), code: ENOENT) }
      return contents
    }
    return try readFile(fileName, atMost: bytesMax)
  }

  /// Reads a file as it is on the disk; only a later state counts as a change from here on.
  ///
  /// Folders, devices and the like are not opened, behind a link either. A file of more than `bytesMax` bytes is not
  /// read.
  mutating func readFile(
    _ fileName: FileName, atMost bytesMax: Int = .max
  ) throws(DiskError) -> Data {
    let path = filePath(fileName)
    known[fileName] = Disk.signature(path).map { KnownFile(signature: $0, hash: 0) }
    guard !Disk.isNoFile(path) else { throw DiskError("read", path, code: EISDIR) }
    if let size = Disk.size(path), size > bytesMax {
      throw DiskError("read", path, code: EFBIG)
    }
    let contents: Data
    do { contents = try Disk.read(path) } catch {
      seen.recordUnreadable(fileName)
      throw error
    }
    let hash = SeenContents.hash(contents)
    known[fileName]?.hash = hash
    seen.record(hash, of: fileName)
    return contents
  }

  /// Returns whether someone else changed, added or removed this file. Its absence is no change while a pending write
  /// will bring it back.
  public func isChangedByOthers(_ fileName: FileName) -> Bool {
    guard let signature = signature(of: fileName) else {
      return known[fileName] != nil && unwritten[fileName] == nil
    }
    return signature != known[fileName]?.signature
  }

  /// Returns whether there is a file now, or will be.
  public func has(_ fileName: FileName) -> Bool {
    if let contents = unwritten[fileName] { return contents != nil }
    return hasFile(fileName)
  }

  /// Returns whether there is a file on the disk now.
  func hasFile(_ fileName: FileName) -> Bool {
    signature(of: fileName) != nil
  }

  func signature(of fileName: FileName) -> FileSignature? {
    Disk.signature(filePath(fileName))
  }

  /// Returns whether a file was touched without a change of its contents; if so, its new state counts as known.
  mutating func acceptIfOnlyTouched(_ fileName: FileName) -> Bool {
    guard let known = known[fileName], let signature = signature(of: fileName),
      signature.size == known.signature.size,
      let contents = try? Disk.read(filePath(fileName)), SeenContents.hash(contents) == known.hash
    else { return false }
    self.known[fileName]?.signature = signature
    return true
  }

  /// From here on the file's absence is no change.
  public mutating func forget(_ fileName: FileName) {
    known[fileName] = nil
  }

  /// The names of files that others changed, added or removed.
  public func namesChangedByOthers() throws(DiskError) -> [FileName] {
    Set(try fileNames()).union(known.keys.filter(\.isValue)).filter(isChangedByOthers)
  }

  public func filePath(_ fileName: FileName) -> String {
    path + "/" + fileName.text
  }
}
