import Foundation
import TimerServer

/// What every program is given to speak by.
enum StandardStreams {
  /// Sees to it that all three are there. Where one was closed, what is said by it would go into the next file that is
  /// opened: the log's lines into the timers.
  static func open() {
    _ = stopgaps
    // Whoever writes hears of a reader that is gone, and of a limit on the file's size, by an error.
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

  /// Written soon, for whoever waits for the line; the timers wait for nobody who does not read it.
  static func writeLine(_ line: String) { LineWriter.standardOutput.write(line) }

  /// The last word of a process that ends: written before this returns, unless nobody makes room for it.
  static func writeError(_ line: String) {
    LineWriter.standardError.write(line)
    LineWriter.standardError.flush(within: 1)
  }
}
