import Foundation

/// The quarantine: a folder for files that nothing reads any more.
extension JSONFolder {
  /// Moves a file to quarantine and returns its new path.
  public mutating func quarantine(_ fileName: FileName) throws(DiskError) -> String {
    let target = try placeInQuarantine(fileName)
    try Disk.rename(filePath(fileName), to: target)
    known[fileName] = nil
    return target
  }

  /// Writes contents into a file in quarantine and returns its path.
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
