public import Foundation

/// A keyed store of `Codable` values: one JSON file for each key, in a folder that people can read.
///
/// Several threads and processes may use one folder at the same time: a change is complete and on the disk before the
/// next one begins, and no reader sees half of one. Every method may be called on any thread. It returns when it is
/// done, and may wait for the disk and for other holders of the folder's lock.
///
/// Methods that can't throw report errors to `onError` and leave the store unchanged.
public final class JSONFileStore: Sendable {
  /// Where the files are.
  public let directory: URL
  private let folder: SharedFolder
  private let feed: ChangeFeed
  private let onError: @Sendable (any Error) -> Void

  /// The longest key, in bytes of UTF-8.
  public static let keyBytesMax = FileName.keyBytesMax

  /// Creates the folder `name` inside `insideDirectory` if necessary. If that fails, every call that changes something
  /// tries again and reports the error.
  ///
  /// `onError` is called on the thread of the call that failed.
  public convenience init(
    insideDirectory: URL, name: String, onError: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    self.init(
      directory: insideDirectory.appendingPathComponent(name, isDirectory: true), onError: onError)
  }

  /// The same for the folder itself. A store that is not watched reports only its own changes.
  package init(
    directory: URL, isWatched: Bool = true,
    onError: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    self.directory = directory.standardizedFileURL
    folder = SharedFolder(path: self.directory.path)
    feed = ChangeFeed(folder, isWatched: isWatched)
    self.onError = onError
    do { try folder.make() } catch { onError(error) }
    feed.store = self
    feed.watch()
  }

  deinit {
    feed.end()
  }

  /// The file of a key's value, whether it exists or not. A key of more than `keyBytesMax` bytes has no file; the
  /// returned name is too long for any file system.
  public func fileURL(forKey key: any StorageKey) -> URL {
    let name = FileName(key: key.rawValue)?.text ?? FileName.tooLong(key.rawValue)
    return directory.appendingPathComponent(name, isDirectory: false)
  }

  /// The keys of all values, in the order of their files' names; none when the folder can't be read.
  public var allKeys: [String] {
    attempt([]) { try folder.read { try $0.fileNames().compactMap(\.key) } }
  }

  /// Returns whether there is a value, of whatever type.
  public func contains(_ key: any StorageKey) -> Bool {
    guard let name = FileName(key: key.rawValue) else { return false }
    return attempt(false) { try folder.read { $0.has(name) } }
  }

  // MARK: Changes

  /// Each change of a value from now on, by this store or any other, in this process or another, usually within
  /// milliseconds.
  ///
  /// Every stream receives every change once it is on the disk; the changes of one step come together. Of several
  /// changes by others in quick succession only the last may be reported. The stream ends with the store.
  public var changes: AsyncStream<Change> { feed.stream() }

  /// Posted, on a thread of the store's own, for each step that changed something, by whomever. The object is
  /// the store, `userInfo[changedKeysUserInfoKey]` the keys, a `[String]`.
  public static let didChangeNotification = Notification.Name("JSONFileStore.didChange")
  /// Where a notification has the keys that changed.
  public static let changedKeysUserInfoKey = "JSONFileStore.changedKeys"

  /// A value that changed.
  public struct Change: Hashable, Sendable {
    /// The key's own text.
    public let key: String
    /// The kind of the change: stored or removed.
    public let kind: Kind
    /// The source of the change.
    public let origin: Origin

    /// The kind of a change.
    public enum Kind: Hashable, Sendable {
      /// The value is there, new or another than before.
      case stored
      /// The value is gone.
      case removed
    }

    /// The source of a change.
    public enum Origin: Hashable, Sendable {
      /// The store that reports it.
      case thisStore
      /// Another store, in this process or in another one, or an editor.
      case elsewhere
    }
  }
}

// MARK: - Reading

extension JSONFileStore {
  /// The value of a key; nil when there is none, when it is damaged or of another type, or can't be read.
  public func retrieve<T: Codable>(type: T.Type, forKey key: any StorageKey) -> T? {
    attempt(nil) { try retrieveOrThrow(type: type, forKey: key) }
  }

  /// The value of a key; nil when there is none.
  ///
  /// A value that was stored as `Data` and holds the JSON of a `T` can be read as a `T`.
  /// - Throws: `DecodingError` when the file is damaged (`dataCorrupted`) or holds a value of another type;
  ///   `DiskError` when it can't be read.
  public func retrieveOrThrow<T: Codable>(type: T.Type, forKey key: any StorageKey) throws -> T? {
    guard let name = FileName(key: key.rawValue) else { return nil }
    return try folder.read { try $0.read(name) }.map { try Self.decode(type, from: $0) }
  }

  /// A stored `Bool`; false when there is none.
  public func bool(forKey key: any StorageKey) -> Bool {
    retrieve(type: Bool.self, forKey: key) ?? false
  }

  /// A stored `Int`; 0 when there is none.
  public func integer(forKey key: any StorageKey) -> Int {
    retrieve(type: Int.self, forKey: key) ?? 0
  }
}

// MARK: - Changing

extension JSONFileStore {
  /// Stores a value; nil removes what there is.
  public func store(_ value: (any Codable)?, forKey key: any StorageKey) {
    attempt(()) { try storeOrThrow(value, forKey: key) }
  }

  /// Stores a value, and returns once it is on the disk; nil removes what there is. A value that is there already
  /// is not written again.
  /// - Throws: `DiskError`, the disk's error; `EncodingError`, for a value that JSON can't hold;
  ///   `StorageError` for a key that is too long; `FolderError` where a server owns the folder. Nothing has
  ///   changed then.
  public func storeOrThrow(_ value: (any Codable)?, forKey key: any StorageKey) throws {
    let change = FileChange(try Self.fileName(key), try value.map(Self.encode))
    try self.change { _ in (FolderStep([change]), ()) }
  }

  /// Removes the value of a key, if there is one.
  public func remove(key: any StorageKey) {
    store(nil, forKey: key)
  }

  /// Removes every value, in one step.
  public func reset() {
    attempt(()) {
      try change { (FolderStep(try $0.fileNames().map { FileChange($0, nil) }), ()) }
    }
  }

  /// Stores many values, all or none, in one step that is seen and survives a crash as a whole; nil removes.
  /// With `skipKeyIfAlreadyPresent` what there is stays as it is.
  public func bulkStore<Key: StorageKey>(
    items: [Key: (any Codable)?], skipKeyIfAlreadyPresent: Bool = false
  ) {
    attempt(()) {
      try bulkStoreOrThrow(items: items, skipKeyIfAlreadyPresent: skipKeyIfAlreadyPresent)
    }
  }

  /// The same as `bulkStore`.
  /// - Throws: as `storeOrThrow`; nothing has changed then.
  public func bulkStoreOrThrow<Key: StorageKey>(
    items: [Key: (any Codable)?], skipKeyIfAlreadyPresent: Bool = false
  ) throws {
    let changes = try items.map { key, value in
      FileChange(try Self.fileName(key), try value.map(Self.encode))
    }
    try change { contents in
      let wanted = changes.filter { !skipKeyIfAlreadyPresent || !contents.has($0.fileName) }
      return (FolderStep(wanted), ())
    }
  }

  /// Adds to a stored `Int` and returns the sum; a missing value counts as 0. No addition is lost, whatever else is
  /// added at the same time. On an error the value stays as it is and is returned.
  @discardableResult
  public func incrementInteger(forKey key: any StorageKey, by amount: Int = 1) -> Int {
    do { return try incrementIntegerOrThrow(forKey: key, by: amount) } catch {
      onError(error)
      return integer(forKey: key)
    }
  }

  /// The same as `incrementInteger`.
  /// - Throws: as `storeOrThrow`; `DecodingError` where the value is no `Int`, `StorageError` for a sum that is none.
  @discardableResult
  public func incrementIntegerOrThrow(
    forKey key: any StorageKey, by amount: Int = 1
  ) throws -> Int {
    let name = try Self.fileName(key)
    return try change { contents in
      let value = try contents.read(name).map { try Self.decode(Int.self, from: $0) } ?? 0
      let (sum, isTooLarge) = value.addingReportingOverflow(amount)
      guard !isTooLarge else { throw StorageError.sumOutOfRange(key: key.rawValue) }
      return (FolderStep([FileChange(name, try Self.encode(sum))]), sum)
    }
  }

  /// Decides on a step without concurrent reads or changes.
  func change<Result>(
    _ decide: (SharedFolder.Contents) throws -> (step: FolderStep, result: Result)
  ) throws -> Result {
    let result = try folder.change(committed: feed.recordOwn, decide)
    feed.watch()
    return result
  }

  private func attempt<Result>(_ fallback: Result, _ body: () throws -> Result) -> Result {
    do { return try body() } catch {
      onError(error)
      return fallback
    }
  }

  func report(_ error: any Error) { onError(error) }
}

// MARK: - Files as others see them

extension JSONFileStore {
  /// The bytes of a value's file; nil when there is none.
  package func contents(forKey key: String) throws -> Data? {
    let name = try Self.fileName(key)
    return try folder.read { try $0.read(name) }
  }

  /// Decides on new bytes of files, nil to remove, without concurrent reads or changes; where it throws, nothing
  /// changes.
  package func edit<Result>(
    _ edit: (Records) throws -> (edits: [String: Data?], result: Result)
  ) throws -> Result {
    try change { contents in
      let (edits, result) = try edit(Records(contents: contents))
      let changes = try edits.map { FileChange(try Self.fileName($0), $1) }
      return (FolderStep(changes), result)
    }
  }

  /// The contents while a step is decided. Must not be kept.
  package struct Records {
    fileprivate let contents: SharedFolder.Contents

    package func keys() throws -> [String] {
      try contents.fileNames().compactMap(\.key)
    }

    /// nil: there is none.
    package func read(_ key: String) throws -> Data? {
      try contents.read(fileName(key))
    }
  }

  static func fileName(_ key: some StorageKey) throws -> FileName {
    guard let name = FileName(key: key.rawValue) else {
      throw StorageError.keyTooLong(key: key.rawValue)
    }
    return name
  }

  static func encode(_ value: any Encodable) throws -> Data {
    let encoder = JSONEncoder()
    // Sorted, so that the same value is the same bytes.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  static func decode<T: Decodable>(_ type: T.Type, from contents: Data) throws -> T {
    let decoder = JSONDecoder()
    do { return try decoder.decode(type, from: contents) } catch {
      guard let inner = try? decoder.decode(Data.self, from: contents),
        let value = try? decoder.decode(type, from: inner)
      else { throw error }
      return value
    }
  }
}

/// Why a store refuses what is asked of it, before the disk is.
public enum StorageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// More bytes than a file name has room for.
  case keyTooLong(key: String)
  /// Beyond the largest `Int`, or the smallest.
  case sumOutOfRange(key: String)

  /// The error in words, and how to avoid it.
  public var description: String {
    switch self {
    case .keyTooLong(let key):
      "a key has at most \(JSONFileStore.keyBytesMax) bytes of UTF-8, not \(key.utf8.count): \(key)"
    case .sumOutOfRange(let key): "the sum is no Int: \(key)"
    }
  }
}
