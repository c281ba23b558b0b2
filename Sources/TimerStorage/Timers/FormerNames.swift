public import Foundation

/// The names by which users of the TinyStorage package know a store, so that their programs need to change
/// their imports only.
public typealias TinyStorage = JSONFileStore
/// The same for their keys.
public typealias TinyStorageKey = StorageKey

extension JSONFileStore {
  /// `migrate(userDefaults:nonBoolKeys:boolKeys:overwriteIfConflict:)` by its former name.
  @discardableResult
  public func migrate(
    userDefaults: UserDefaults, nonBoolKeys: Set<String>, boolKeys: Set<String>,
    overwriteTinyStorageIfConflict: Bool
  ) -> Migration {
    migrate(
      userDefaults: userDefaults, nonBoolKeys: nonBoolKeys, boolKeys: boolKeys,
      overwriteIfConflict: overwriteTinyStorageIfConflict)
  }
}
