import Dispatch

/// The files that were behind when a round of writing them began, a part at a time.
///
/// A timer that changes a thousand times a second is in its file once a second: to replace a file costs the
/// disk many times what the log does.
struct FileRound {
  private var fileNames: ArraySlice<FileName> = []
  private var atOnce = 1

  /// Changes that arrive between two parts are handled first.
  static let pause = DispatchTimeInterval.milliseconds(5)
  /// The most parts of a round, so that a round of many files takes less than a second too.
  private static let partsMax = 100

  init() {}

  init(of fileNames: [FileName]) {
    self.fileNames = fileNames[...]
    atOnce = max(1, fileNames.count / Self.partsMax)
  }

  var isOver: Bool { fileNames.isEmpty }

  mutating func next() -> ArraySlice<FileName> {
    defer { fileNames = fileNames.dropFirst(atOnce) }
    return fileNames.prefix(atOnce)
  }
}
