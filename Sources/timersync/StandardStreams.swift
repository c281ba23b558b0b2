import Foundation
import TimerServer

/// The standard streams of the process.
enum StandardStreams {
  /// Makes sure that all three streams are open. If one is closed, the next file that is opened gets its number: the
  /// log would be written into a timer's file.
  static func open() {
    _ = stopgaps
    // Writing to a closed pipe, or beyond a limit on the file's size, returns an error instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// `/dev/null` in their places, for good.
  private static let stopgaps: [FileHandle] = {
    var stopgaps: [FileHandle] = []
    // The lowest number that is free is the one that is given.
    while let file = FileHandle(forUpdatingAtPath: "/dev/null"), file.fileDescriptor <= 2 {
      stopgaps.append(file)
    }
    return stopgaps
  }()

  /// Written when this returns; throws when it could not be.
  static func print(_ text: String) throws(OutputFailure) {
    guard !stopgaps.contains(where: { $0.fileDescriptor == 1 }) else { throw .closed }
    try StandardOutput.write(text)
  }

  /// Writes a line in the background; the timers never wait for its reader.
  static func writeLine(_ line: String) { LineWriter.standardOutput.write(line) }

  /// Writes the last message of a process: it is written before this returns, unless its reader makes no room.
  static func writeError(_ line: String) {
    LineWriter.standardError.write(line)
    LineWriter.standardError.flush(within: 1)
  }
}
