public import Foundation
import TimerCore
import TimerStorage

/// The tokens of a server as its owner changes them; a running server follows within a second.
public struct TokenStore: Sendable {
  let file: TokenFile

  /// The file at `path`, or that of the data folder.
  public init(path: String?, dataFolder: String) {
    file = path.map { TokenFile(path: $0) } ?? TokenFile(dataFolder: dataFolder)
  }

  public var path: String { file.path }

  /// A token as it may be shown.
  public struct Entry: Sendable {
    public let name: String
    public let role: String
    /// nil: all.
    public let timers: [String]?
    public let expires: Date?
  }

  /// Makes a token and returns its secret, which is stored nowhere else.
  public func add(
    name: String, role: Role, timers: [String]? = nil, expires: Date? = nil
  ) throws(TokenFailure) -> String {
    let secret = Self.newSecret()
    guard let digest = TokenDigest(of: secret) else { preconditionFailure("it is plain letters") }
    let record = TokenRecord(
      name: name, role: role.rawValue, timers: timers, expires: expires.map(Self.wholeSecond),
      sha256: digest.hexadecimal)
    do { _ = try Token(record) } catch { throw .invalid(error.words) }
    try change { records throws(TokenFailure) in
      guard !records.contains(where: { $0.isNamed(name) }) else { throw .taken(name) }
      records.append(record)
    }
    return secret
  }

  /// Every token, in the order in which they were made.
  public func list() throws(TokenFailure) -> [Entry] {
    try load().map {
      Entry(name: $0.name, role: $0.role, timers: $0.timers, expires: $0.expires)
    }
  }

  /// Removes a token. A running server closes the connections that used it.
  public func remove(_ name: String) throws(TokenFailure) {
    try change { records throws(TokenFailure) in
      guard let place = records.firstIndex(where: { $0.isNamed(name) }) else {
        throw .unknown(name)
      }
      records.remove(at: place)
    }
  }

  /// Undoes `add` for a token that could not be shown to anyone. A newer token with the same name stays.
  public func withdraw(_ secret: String) throws(TokenFailure) {
    let digest = TokenDigest(of: secret)?.hexadecimal
    try change { records throws(TokenFailure) in records.removeAll { $0.sha256 == digest } }
  }

  private func load() throws(TokenFailure) -> [TokenRecord] {
    do { return try file.load() ?? [] } catch { throw .file(path, error.explanation) }
  }

  private func change(
    _ edit: (inout [TokenRecord]) throws(TokenFailure) -> Void
  ) throws(TokenFailure) {
    var failure: TokenFailure?
    do {
      try file.change { records in
        do throws(TokenFailure) { try edit(&records) } catch { failure = error }
        return failure == nil
      }
    } catch {
      throw .file(path, error.explanation)
    }
    if let failure { throw failure }
  }

  /// 32 bytes of the system's randomness, with a beginning by which a leaked one can be found.
  private static func newSecret() -> String {
    var random = SystemRandomNumberGenerator()
    let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    // RFC 4648 §5, without padding.
    let digits = bytes.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    return "timersync_" + digits
  }

  /// The file has whole seconds; a token lives at least as long as it was asked to.
  private static func wholeSecond(_ date: Date) -> Date {
    Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.up))
  }
}

/// Why a token could not be made, listed or removed.
public enum TokenFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case invalid(String)
  case taken(String)
  case unknown(String)
  case file(String, String)

  /// In one line, for a person.
  public var description: String {
    switch self {
    case .invalid(let why): why
    case .taken(let name): "there is a token named \(name) already; remove it first"
    case .unknown(let name): "there is no token named \(name); 'timersync token list' shows all"
    case .file(let path, let why): "the token file \(path) can't be used: \(why)"
    }
  }
}

extension TokenRecord {
  fileprivate func isNamed(_ name: String) -> Bool {
    self.name.utf8.elementsEqual(name.utf8)
  }
}
