import CLibcrypto
import Foundation
import TimerCore
import TimerStorage

/// A token as the server uses it: its permissions, and the digest that identifies it.
struct Token: Hashable, Sendable {
  let name: String
  let role: Role
  let scope: TimerScope
  /// When it ends, by the wall clock.
  let end: WallTime?
  let digest: TokenDigest

  init(
    name: String, role: Role, scope: TimerScope = .all, end: WallTime? = nil, digest: TokenDigest
  ) {
    self.name = name
    self.role = role
    self.scope = scope
    self.end = end
    self.digest = digest
  }

  func hasEnded(at now: WallTime) -> Bool {
    end.map { $0 <= now } ?? false
  }
}

extension Token {
  /// Reads an entry of the file, which people may have edited.
  init(_ record: TokenRecord) throws(TokenFault) {
    guard Self.isName(record.name) else { throw TokenFault("a name is \(Self.nameRule)") }
    func fault(_ words: String) -> TokenFault { TokenFault("token \(record.name): \(words)") }
    guard let role = Role(rawValue: record.role), role > .none else {
      throw fault("its role has to be view or control")
    }
    guard let digest = TokenDigest(hexadecimal: record.sha256) else {
      throw fault("its sha256 has to be 64 hexadecimal digits")
    }
    self.init(
      name: record.name, role: role, scope: try Self.scope(record, fault),
      end: record.expires.map { WallTime($0) }, digest: digest)
  }

  private static func scope(
    _ record: TokenRecord, _ fault: (String) -> TokenFault
  ) throws(TokenFault) -> TimerScope {
    guard let timers = record.timers else { return .all }
    var patterns: Set<TimerPattern> = []
    for text in timers where text != "*" {
      guard let pattern = TimerPattern(text) else {
        throw fault("a timer of its list has to be \(TimerPattern.rule)")
      }
      patterns.insert(pattern)
    }
    return timers.contains("*") ? .all : .matching(patterns)
  }

  static let nameRule = "1 to 64 bytes without control characters"

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && Log.escaped(text).utf8.elementsEqual(text.utf8)
  }
}

/// A fault in an entry of the token file, in words.
struct TokenFault: Error, Equatable {
  let words: String

  init(_ words: String) {
    self.words = words
  }
}

/// The SHA-256 digest of a token. Comparing two takes the same time however much of them is equal.
struct TokenDigest: Hashable, Sendable {
  private let value: crypto_digest

  /// nil for what no token of ours could be, such as a text with spaces or of thousands of bytes.
  init?(of secret: String) {
    guard (1...Self.secretBytesMax).contains(secret.utf8.count),
      secret.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    value = crypto_sha256(secret)
  }

  private static let secretBytesMax = 512

  init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    var numbers: [UInt64] = []
    for start in stride(from: 0, to: 64, by: 16) {
      let part = digits[start..<start + 16]
      guard part.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
        let number = UInt64(String(decoding: part, as: UTF8.self), radix: 16)
      else { return nil }
      numbers.append(number)
    }
    value = crypto_digest(
      first: numbers[0], second: numbers[1], third: numbers[2], fourth: numbers[3])
  }

  var hexadecimal: String {
    [value.first, value.second, value.third, value.fourth].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  static func == (left: Self, right: Self) -> Bool {
    crypto_is_same(left.value, right.value) != 0
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(value.first)
  }
}
