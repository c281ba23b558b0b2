/// Why a server takes no changes for now.
public struct StorageTrouble: Error, Hashable, Sendable, CustomStringConvertible {
  /// A short text that may be shown to anyone: without paths or names of files.
  public let reason: String
  /// For the log, with paths.
  public let description: String

  /// `description` is for the log alone.
  public init(reason: String, description: String) {
    self.reason = reason
    self.description = description
  }

  /// Creates the trouble for an error of the disk.
  public init(_ error: DiskError) {
    self.init(reason: "the disk refuses: \(error.reason)", description: "\(error)")
  }

  /// Why the folder can't be used.
  init(_ error: FolderError) {
    switch error {
    case .disk(let error): self.init(error)
    case .owned: self.init(reason: "the data folder: \(error)", description: "\(error)")
    case .newer:
      self.init(
        reason: "the data folder holds data of a newer version", description: "\(error)")
    }
  }
}
