public import Foundation

/// What one file is to become.
public struct FileChange: Hashable, Sendable {
  public let fileName: FileName
  /// nil: it is to go.
  public let contents: Data?

  public init(_ fileName: FileName, _ contents: Data?) {
    self.fileName = fileName
    self.contents = contents
  }
}

/// Changes of files that happen all or not at all.
public struct FolderStep: Hashable, Sendable {
  public let changes: [FileChange]

  public init(_ changes: [FileChange]) {
    self.changes = changes
  }
}
