import Foundation

/// What every program is given to speak by.
enum StandardStreams {
  /// Sees to it that all three are there. Where one was closed, what is said by it would go into the next file that is
  /// opened: the log's lines into the timers.
  static func open() { _ = stopgaps }

  /// `/dev/null` in their places, for good.
  private static let stopgaps: [FileHandle] = {
    var stopgaps: [FileHandle] = []
    // The lowest number that is free is the one that is given.
    while let file = FileHandle(forUpdatingAtPath: "/dev/null"), file.fileDescriptor <= 2 {
      stopgaps.append(file)
    }
    return stopgaps
  }()

  /// Written at once, for whoever waits for the line.
  static func say(_ line: String) { write(line, to: .standardOutput) }

  static func complain(_ line: String) { write(line, to: .standardError) }

  /// Where nobody reads, or there is no room, there is nobody left to be told of that.
  private static func write(_ line: String, to stream: FileHandle) {
    try? stream.write(contentsOf: Data("\(line)\n".utf8))
  }
}
