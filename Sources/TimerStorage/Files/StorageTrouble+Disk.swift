extension StorageTrouble {
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
