public import Foundation

extension JSONFileStore {
  /// The result of a migration.
  public struct Migration: Hashable, Sendable {
    /// The keys whose values are in the store now, sorted.
    public var stored: [String] = []
    /// The keys that were left out, and why.
    public var skipped: [String: SkipReason] = [:]
  }

  /// Why a migration left a key out.
  public enum SkipReason: Hashable, Sendable, CustomStringConvertible {
    /// `UserDefaults` has no value for it.
    case missing
    /// The store has a value already, and was not to overwrite it.
    case alreadyPresent
    /// The key was listed among those of `Bool`, and its value is none.
    case notBool
    /// An array or a dictionary of more than one type.
    case mixedTypes
    /// An array or a dictionary inside of another one.
    case nested
    /// None of `Bool`, `Int`, `Double`, `String`, `Date` and `Data`.
    case unsupportedType(String)
    /// JSON has no such value, as a `Double` that is no number; or the key is too long.
    case unusable(String)
    /// The disk refused the whole step.
    case disk(DiskError)

    /// The reason in words.
    public var description: String {
      switch self {
      case .missing: "UserDefaults has no value for it"
      case .alreadyPresent: "the store has a value already"
      case .notBool: "it is no Bool, and no array or dictionary of Bool"
      case .mixedTypes: "it holds values of more than one type"
      case .nested: "it holds arrays or dictionaries inside of another one"
      case .unsupportedType(let type): "\(type) is none of Bool, Int, Double, String, Date and Data"
      case .unusable(let why): why
      case .disk(let error): error.description
      }
    }
  }

  /// Copies values out of `UserDefaults` in one durable step, and leaves `UserDefaults` as it was.
  ///
  /// Values, arrays and dictionaries of `Bool`, `Int`, `Double`, `String`, `Date` and `Data` are taken. A `Bool` that
  /// was read back from a file may look like a number there, so it has to be said which keys are of `Bool`.
  /// - Parameters:
  ///   - nonBoolKeys: keys of all other values; a `Bool` found there becomes 0 or 1.
  ///   - boolKeys: keys of `Bool`, and of arrays and dictionaries of `Bool`; of numbers 0 and 1 are taken.
  ///   - overwriteIfConflict: whether a value replaces one that the store has.
  /// - Returns: what was stored, and each key that was not with the reason.
  @discardableResult
  public func migrate(
    userDefaults: UserDefaults, nonBoolKeys: Set<String>, boolKeys: Set<String>,
    overwriteIfConflict: Bool
  ) -> Migration {
    var migration = Migration()
    var changes: [String: FileChange] = [:]
    for key in boolKeys.union(nonBoolKeys) {
      do throws(SkipReason) {
        let value = DefaultsValue(userDefaults.object(forKey: key))
        let contents = try boolKeys.contains(key) ? value.ofBools() : value.ofOthers()
        changes[key] = FileChange(try Self.usableName(key), contents)
      } catch {
        migration.skipped[key] = error
      }
    }
    do {
      let present = try change { contents in
        let conflicts = changes.filter { !overwriteIfConflict && contents.has($0.value.fileName) }
        let wanted = changes.filter { conflicts[$0.key] == nil }
        return (FolderStep(Array(wanted.values)), Set(conflicts.keys))
      }
      for key in present { migration.skipped[key] = .alreadyPresent }
      migration.stored = changes.keys.filter { !present.contains($0) }.sorted()
    } catch {
      report(error)
      for key in changes.keys {
        migration.skipped[key] = (error as? DiskError).map { .disk($0) } ?? .unusable("\(error)")
      }
    }
    return migration
  }

  private static func usableName(_ key: String) throws(SkipReason) -> FileName {
    do { return try fileName(key) } catch { throw .unusable("\(error)") }
  }
}

extension JSONFileStore.SkipReason: Error {}

/// A value of `UserDefaults`.
///
/// On Linux it is a Swift value, a list of optional ones, or a dictionary of such under `AnyHashable`.
private struct DefaultsValue {
  typealias SkipReason = JSONFileStore.SkipReason
  private let object: Any?

  init(_ object: Any?) { self.object = object }

  func ofBools() throws(SkipReason) -> Data {
    try encoded { element throws(SkipReason) in
      if let flag = element as? Bool { return flag }
      switch Self.integer(element) {
      case 0: return false
      case 1: return true
      default: throw .notBool
      }
    }
  }

  func ofOthers() throws(SkipReason) -> Data {
    try encoded(Self.value)
  }

  /// The JSON of the value, or of its elements, each as `convert` has it.
  private func encoded(
    _ convert: (Any) throws(SkipReason) -> any Codable & Hashable
  ) throws(SkipReason) -> Data {
    guard let object else { throw .missing }
    if let list = Self.list(object) {
      return try Self.encoded(Self.alike(try Self.converted(list, convert)))
    }
    if let table = Self.table(object) {
      let (keys, values) = (table.map(\.key), table.map(\.value))
      let alike = try Self.alike(try Self.converted(values, convert))
      return try Self.encoded(alike, under: keys)
    }
    return try Self.json(try convert(object))
  }

  private static func converted(
    _ elements: [Any], _ convert: (Any) throws(SkipReason) -> any Codable & Hashable
  ) throws(SkipReason) -> [any Codable & Hashable] {
    var values: [any Codable & Hashable] = []
    for element in elements {
      if list(element) != nil || table(element) != nil { throw .nested }
      values.append(try convert(element))
    }
    return values
  }

  // MARK: One value

  private static func value(_ object: Any) throws(SkipReason) -> any Codable & Hashable {
    switch object {
    case let text as String: return text
    case let date as Date: return date
    case let bytes as Data: return bytes
    case let flag as Bool: return flag ? 1 : 0
    case let number as any BinaryFloatingPoint: return Double(number)
    default:
      if let number = integer(object) { return number }
      if let number = object as? NSNumber { return number.doubleValue }
      throw .unsupportedType("\(Swift.type(of: object))")
    }
  }

  private static func integer(_ object: Any) -> Int? {
    if let number = object as? any BinaryInteger { return Int(exactly: number) }
    guard let number = object as? NSNumber else { return nil }
    return Int(exactly: number.doubleValue)
  }

  // MARK: Many values

  private static func list(_ object: Any) -> [Any]? {
    (object as? [Any?])?.map { $0 ?? NSNull() } ?? object as? [Any]
  }

  private static func table(_ object: Any) -> [(key: String, value: Any)]? {
    guard let table = object as? [AnyHashable: Any] else { return nil }
    return table.compactMap { key, value in
      (key.base as? String).map { ($0, (value as Any?) ?? NSNull()) }
    }
  }

  /// Elements of one type; whole numbers among others are made like the others.
  private static func alike(
    _ elements: [any Codable & Hashable]
  ) throws(SkipReason) -> [any Codable & Hashable] {
    let numbers = elements.compactMap { $0 as? Double ?? ($0 as? Int).map(Double.init) }
    if numbers.count == elements.count, elements.contains(where: { $0 is Double }) {
      return numbers
    }
    guard Set(elements.map { ObjectIdentifier(Swift.type(of: $0)) }).count <= 1 else {
      throw .mixedTypes
    }
    return elements
  }

  // MARK: JSON

  private static func encoded(_ elements: [any Codable & Hashable]) throws(SkipReason) -> Data {
    try json(elements.map(Element.init))
  }

  private static func encoded(
    _ elements: [any Codable & Hashable], under keys: [String]
  ) throws(SkipReason) -> Data {
    try json(Dictionary(zip(keys, elements.map(Element.init))) { first, _ in first })
  }

  private struct Element: Encodable {
    let value: any Codable & Hashable

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  private static func json(_ value: any Encodable) throws(SkipReason) -> Data {
    do { return try JSONFileStore.encode(value) } catch {
      throw .unusable("JSON has no such value: \(error)")
    }
  }
}
