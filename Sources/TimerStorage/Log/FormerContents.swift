/// A file's possible contents before the entries of a log that name it.
struct FormerContents: Equatable {
  /// True if the log records this; older logs do not.
  let isKnown: Bool
  /// 0 stands for no file.
  var hashes: Set<UInt64> = []

  init(isKnown: Bool) {
    self.isKnown = isKnown
  }
}
