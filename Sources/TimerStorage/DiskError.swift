import Foundation

/// What the disk said when it refused.
public struct DiskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system call that was refused, as in `rename`.
  public let operation: String
  /// What it was to work on.
  public let path: String
  /// An errno, as in `man 3 errno`.
  public let code: Int32

  /// `code` is an errno.
  public init(_ operation: String, _ path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// What Foundation threw for a call on the file at `path`.
  init(_ operation: String, _ path: String, thrown: any Error) {
    let outer = thrown as NSError
    let inner = outer.userInfo[NSUnderlyingErrorKey] as? NSError ?? outer
    self.init(operation, path, code: inner.domain == NSPOSIXErrorDomain ? Int32(inner.code) : EIO)
  }

  /// Whether there was no room.
  var isOfFullDisk: Bool { code == ENOSPC || code == EDQUOT }

  /// Whether the disk may take later what it refuses now, without anybody changing the folder.
  var mayPass: Bool { isOfFullDisk || code == EIO || code == EFBIG || code == EAGAIN }

  /// One line: the operation, the path, and the system's own words.
  public var description: String {
    "\(operation) \(path): \(reason)"
  }

  /// The system's own words, as in `No space left on device`.
  public var reason: String {
    let sentence = NSError(domain: NSPOSIXErrorDomain, code: Int(code)).localizedDescription
    return sentence.components(separatedBy: ". ").last ?? sentence
  }
}
