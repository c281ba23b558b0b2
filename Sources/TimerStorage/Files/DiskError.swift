import Foundation

/// An error of a file operation.
public struct DiskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system call that was refused, as in `rename`.
  public let operation: String
  /// The path that it was about.
  public let path: String
  /// An errno, as in `man 3 errno`.
  public let code: Int32

  /// `code` is an errno.
  public init(_ operation: String, _ path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// Creates the error of a Foundation call on the file at `path`.
  init(_ operation: String, _ path: String, thrown: any Error) {
    self.init(operation, path, code: Self.code(of: thrown) ?? EIO)
  }

  private static func code(of thrown: any Error) -> Int32? {
    if let error = thrown as? POSIXError { return error.code.rawValue }
    let outer = thrown as NSError
    if outer.domain == NSPOSIXErrorDomain { return Int32(outer.code) }
    // On Linux what lies beneath is no NSError, but an error of Swift's.
    if let inner = outer.userInfo[NSUnderlyingErrorKey] as? any Error { return code(of: inner) }
    guard outer.domain == NSCocoaErrorDomain else { return nil }
    return codes[CocoaError.Code(rawValue: outer.code)]
  }

  /// Foundation's codes for errno values, in reverse.
  private static let codes: [CocoaError.Code: Int32] = [
    .fileReadNoPermission: EACCES, .fileWriteNoPermission: EACCES, .fileNoSuchFile: ENOENT,
    .fileReadNoSuchFile: ENOENT, .fileReadTooLarge: EFBIG, .fileReadInvalidFileName: ENAMETOOLONG,
    .fileWriteInvalidFileName: ENAMETOOLONG, .fileWriteOutOfSpace: ENOSPC,
    .fileWriteVolumeReadOnly: EROFS, .fileWriteFileExists: EEXIST,
  ]

  /// True if the process lacks permission.
  public var isOfPermissions: Bool { code == EACCES || code == EPERM }

  /// True if the disk is full.
  var isOfFullDisk: Bool { code == ENOSPC || code == EDQUOT }

  /// True if the disk may accept the operation later, without a change of the folder.
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
