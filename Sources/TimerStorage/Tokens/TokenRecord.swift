public import Foundation

/// A token as stored in the file: its permissions, and the digest that identifies it.
public struct TokenRecord: Codable, Hashable, Sendable {
  /// The name, for the log and for removing it.
  public var name: String
  /// `view` or `control`.
  public var role: String
  /// Names of timers, each exact or with a `*` at its end for the rest; nil: all timers.
  public var timers: [String]?
  /// The end; nil: none.
  public var expires: Date?
  /// SHA-256 of the token, in hexadecimal digits.
  public var sha256: String

  public init(
    name: String, role: String, timers: [String]? = nil, expires: Date? = nil, sha256: String
  ) {
    self.name = name
    self.role = role
    self.timers = timers
    self.expires = expires
    self.sha256 = sha256
  }
}

/// Why a file of tokens can't be used.
public enum TokenFileError: Error, Hashable, Sendable, CustomStringConvertible {
  case disk(DiskError)
  /// Another process is changing it, and takes long.
  case busy
  case malformed(String)

  /// In words, without the path.
  public var description: String {
    switch self {
    case .disk(let error): "\(error)"
    case .busy: "another program is changing it; try again"
    case .malformed(let why): "it is no list of tokens: \(why)"
    }
  }
}
