public import Foundation

/// A change of one file.
public struct FileChange: Hashable, Sendable {
  public let fileName: FileName
  /// nil: it is to go.
  public let contents: Data?
  /// True if someone else has removed the file already: a file that is there again must stay.
  public let isGoneAlready: Bool

  /// `isGoneAlready` is of interest for a removal only.
  public init(_ fileName: FileName, _ contents: Data?, isGoneAlready: Bool = false) {
    self.fileName = fileName
    self.contents = contents
    self.isGoneAlready = contents == nil && isGoneAlready
  }
}

/// Changes of files that happen all or not at all.
public struct FolderStep: Hashable, Sendable {
  public let changes: [FileChange]

  public init(_ changes: [FileChange]) {
    self.changes = changes
  }
}
