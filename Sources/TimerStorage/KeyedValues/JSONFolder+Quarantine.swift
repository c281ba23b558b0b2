import Foundation

/// Files that are put aside where nothing reads them.
extension JSONFolder {
  /// Puts a file aside where nothing reads it; its new path.
  public mutating func quarantine(_ fileName: FileName) throws(DiskError) -> String {
    let target = try placeInQuarantine(fileName)
    try Disk.rename(filePath(fileName), to: target)
    known[fileName] = nil
    return target
  }

  /// Keeps contents where nothing reads them; their path.
  func quarantine(_ contents: Data, as fileName: FileName) throws(DiskError) -> String {
    let target = try placeInQuarantine(fileName)
    _ = try Disk.write(contents, to: target)
    return target
  }

  /// The names of the files in quarantine, sorted.
  var quarantined: [String] {
    ((try? Disk.names(in: path + "/quarantine")) ?? []).sorted()
  }

  func placeInQuarantine(_ fileName: FileName) throws(DiskError) -> String {
    let folder = path + "/quarantine"
    try Disk.makeFolders(folder)
    var target = folder + "/" + fileName.text
    var copies = 1
    while Disk.signature(target) != nil {
      copies += 1
      target = folder + "/" + fileName.text + ".\(copies)"
    }
    return target
  }
}
