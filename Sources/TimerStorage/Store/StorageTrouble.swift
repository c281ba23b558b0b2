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
}
