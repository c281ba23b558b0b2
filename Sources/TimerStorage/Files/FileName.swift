import Foundation
import SharedAlgorithms

/// The name of a value's file: readable where possible, and always reversible.
///
/// Letters, digits, `-`, `_`, inner dots and visible non-ASCII characters stay as they are; all other bytes become
/// `%XX`. A name that would be empty or too long for a file system is `~` and base64url instead. Names are equal if
/// their bytes are, as on the file system and unlike `String`.
public struct FileName: Sendable {
  public let text: String

  /// Creates a name from any text, as a folder lists it.
  init(_ text: String) {
    self.text = text
  }

  static let ending = ".json"
  /// Leaves room below the usual limit of 255 bytes for the ending and a temporary file's marks.
  private static let stemBytesMax = 200

  /// The longest key, in bytes, that has a file name.
  public static let keyBytesMax = 149

  /// nil for a key of more than `keyBytesMax` bytes.
  public init?(key: String) {
    guard key.utf8.count <= Self.keyBytesMax else { return nil }
    let plain = Self.escaped(key)
    let isShort = (1...Self.stemBytesMax).contains(plain.utf8.count)
    text = (isShort ? plain : Self.packed(key)) + Self.ending
  }

  /// The name that stands for a key that is too long to have one.
  static func tooLong(_ key: String) -> String {
    packed(key) + ending
  }

  /// The key of this file; nil when it isn't a value's file.
  public var key: String? {
    guard isValue else { return nil }
    let stem = String(decoding: text.utf8.dropLast(Self.ending.utf8.count), as: UTF8.self)
    let key =
      stem.utf8.first == UInt8(ascii: "~")
      ? Self.unpacked(stem) : PercentEncoding.decoded(stem.utf8)
    guard let key, FileName(key: key) == self else { return nil }
    return key
  }

  /// True if it is named like a value's file.
  var isValue: Bool {
    ends(with: Self.ending) && !isHidden
  }

  var isHidden: Bool {
    text.utf8.first == UInt8(ascii: ".")
  }

  func ends(with ending: String) -> Bool {
    text.utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8)
  }

  // MARK: Percent

  private static func escaped(_ key: String) -> String {
    var name = ""
    for (index, scalar) in key.unicodeScalars.enumerated() {
      if isPlain(scalar) && !(index == 0 && scalar == ".") {
        name.unicodeScalars.append(scalar)
      } else {
        for byte in String(Character(scalar)).utf8 { name += PercentEncoding.escape(byte) }
      }
    }
    return name
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        || "-_.".unicodeScalars.contains(scalar)
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator, .spaceSeparator:
      return false
    default: return true
    }
  }

  // MARK: Base64, RFC 4648 §5

  private static func packed(_ key: String) -> String {
    "~"
      + Data(key.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  private static func unpacked(_ stem: String) -> String? {
    var base64 = String(decoding: stem.utf8.dropFirst(), as: UTF8.self)
      .replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
    return Data(base64Encoded: base64).flatMap { String(validating: Array($0), as: UTF8.self) }
  }
}

extension FileName: Hashable, Comparable, CustomStringConvertible {
  public static func == (left: Self, right: Self) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  public static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }

  public var description: String { text }
}
