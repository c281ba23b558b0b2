import CFiles
import Foundation
import TimerStorage

/// Standard output, for what is lost when it is not written.
public enum StandardOutput {
  /// Writes a line, however long the other end takes to read it.
  public static func write(_ line: String) throws(OutputFailure) {
    try write(line, to: 1)
  }

  static func write(_ line: String, to descriptor: Int32) throws(OutputFailure) {
    let written = files_write_text(descriptor, line + "\n", 0)
    guard written.error == 0 else { throw OutputFailure(code: written.error) }
  }
}

/// Why standard output could not be written, in one line for a person.
public struct OutputFailure: Error, Equatable, CustomStringConvertible {
  let code: Int32
  /// The consequence of the failure, for the message.
  private(set) var consequence = ""

  /// There is no standard output.
  public static let closed = OutputFailure(code: EBADF)

  init(code: Int32) {
    self.code = code
  }

  public func with(_ consequence: String) -> OutputFailure {
    var failure = self
    failure.consequence = "; " + consequence
    return failure
  }

  public var description: String {
    let reason = DiskError("write", "standard output", code: code).reason
    return "standard output can't be written (\(reason))\(consequence)"
  }
}
