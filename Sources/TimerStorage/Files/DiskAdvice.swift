import Foundation

/// Advice for the operator about an error of the disk.
extension DiskError {
  /// The end of a line on a watch that the system does not give; empty where nothing is known that would help.
  public var advice: String {
    switch code {
    case EMFILE: "; raise fs.inotify.max_user_instances by sysctl"
    case ENOSPC: "; raise fs.inotify.max_user_watches by sysctl"
    default: ""
    }
  }

  /// The error, with the user that the server runs as if that may be the reason.
  public var explanation: String {
    guard isOfPermissions else { return description }
    let name = NSUserName()
    let user = name.isEmpty ? "uid \(geteuid())" : "\(name), uid \(geteuid())"
    return "\(self), for the user that timersync runs as (\(user))"
  }
}

extension FolderError {
  /// As `DiskError.explanation`.
  public var explanation: String {
    if case .disk(let error) = self { error.explanation } else { description }
  }
}

extension TokenFileError {
  /// As `DiskError.explanation`.
  public var explanation: String {
    if case .disk(let error) = self { error.explanation } else { description }
  }
}
