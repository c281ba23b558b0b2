import Foundation

/// A file's next contents, written beside it and put into its place by one rename.
///
/// Readers get either the old contents or the new ones. A staged file that a crash leaves behind is ignored.
struct StagedFile {
  private let path: String
  private let target: String

  static let ending = ".new"

  /// `isSynced`: the contents are on the disk when this returns.
  init(
    _ contents: Data, in folder: String, as fileName: FileName, isSynced: Bool = false
  ) throws(DiskError) {
    path = folder + "/." + fileName.text + Self.ending
    target = folder + "/" + fileName.text
    do {
      let file = try Disk.write(contents, to: path)
      if isSynced { try Disk.syncData(file, path) }
    } catch {
      discard()
      throw error
    }
  }

  /// Returns whether a name in a folder is that of such a file.
  static func isStagedName(_ name: FileName) -> Bool {
    name.isHidden && name.ends(with: ending)
  }

  /// The signature that the file will have.
  var signature: FileSignature? { Disk.signature(path) }

  func place() throws(DiskError) {
    do { try Disk.rename(path, to: target) } catch {
      discard()
      throw error
    }
  }

  /// Best effort: a file that stays is overwritten or removed later.
  func discard() {
    try? Disk.remove(path)
  }
}
