/// A key of a value in a `JSONFileStore`: a `String`, or an enum of strings.
///
/// ```swift
/// enum Setting: String, StorageKey { case volume, theme }
/// ```
public protocol StorageKey: Hashable, Sendable {
  /// The name itself. Two keys are the same when the bytes of these are.
  var rawValue: String { get }
}

extension String: StorageKey {
  /// The string itself.
  public var rawValue: String { self }
}
