package import Foundation
import Synchronization
package import TimerCore
import TimerStorage

/// A place for runs under keys, of which one step at a time changes some.
package protocol DataSource: Sendable {
  /// nil: there is none.
  func run(forKey key: TimerKey) throws -> RestoreTimerData?

  /// Decides on new runs, nil to remove, without concurrent changes: `edit` gets the existing keys and a way to read.
  /// Where it throws, nothing changes.
  func edit<Result>(_ edit: Edit<Result>) throws -> Result

  typealias Edit<Result> = (
    _ keys: () throws -> [TimerKey], _ read: (TimerKey) throws -> RestoreTimerData?
  ) throws -> (edits: [TimerKey: RestoreTimerData?], result: Result)
}

// MARK: - In memory

/// Runs that are gone with the object, for tests and previews.
package final class InMemoryDataSource: DataSource {
  private let runs = Mutex<[TimerKey: RestoreTimerData]>([:])

  package init() {}

  package func run(forKey key: TimerKey) -> RestoreTimerData? {
    runs.withLock { $0[key] }
  }

  package func edit<Result>(_ edit: Edit<Result>) throws -> Result {
    try runs.withLock { runs in
      let found = runs
      let (edits, result) = try edit({ Array(found.keys) }, { found[$0] })
      for (key, run) in edits { runs[key] = run }
      return result
    }
  }
}

// MARK: - In UserDefaults

/// Runs in an app's defaults. Steps exclude each other within the process, over all defaults.
package struct UserDefaultsClient: DataSource, @unchecked Sendable {
  // Used under the lock only: Foundation doesn't say whether defaults may be shared.
  private let userDefaults: UserDefaults
  private let coder = RunCoder()
  private static let lock = Mutex(())

  package init(userDefaults: UserDefaults) {
    self.userDefaults = userDefaults
  }

  package func run(forKey key: TimerKey) throws -> RestoreTimerData? {
    try Self.lock.withLock { _ in try read(key) }
  }

  package func edit<Result>(_ edit: Edit<Result>) throws -> Result {
    try Self.lock.withLock { _ in
      let (edits, result) = try edit(
        { userDefaults.dictionaryRepresentation().keys.compactMap(TimerKey.init(text:)) }, read)
      for (key, run) in edits {
        if let run {
          userDefaults.set(try coder.encode(run), forKey: key.text)
        } else {
          userDefaults.removeObject(forKey: key.text)
        }
      }
      // On Linux nothing else writes them to their file. Where that can't be done they hold in memory, as
      // defaults do.
      if !edits.isEmpty { userDefaults.synchronize() }
      return result
    }
  }

  private func read(_ key: TimerKey) throws -> RestoreTimerData? {
    try userDefaults.data(forKey: key.text).map { try coder.decode($0, of: key) }
  }
}

// MARK: - In files

/// Runs as JSON files, which several processes may share.
package struct JSONFilesDataSource: DataSource {
  private let store: JSONFileStore
  private let coder = RunCoder()

  package init(directory: URL) {
    store = JSONFileStore(directory: directory, isWatched: false)
  }

  package func run(forKey key: TimerKey) throws -> RestoreTimerData? {
    try store.contents(forKey: key.text).map { try coder.decode($0, of: key) }
  }

  package func edit<Result>(_ edit: Edit<Result>) throws -> Result {
    try store.edit { records in
      let (edits, result) = try edit({ try records.keys().compactMap(TimerKey.init(text:)) }) {
        key in try records.read(key.text).map { try coder.decode($0, of: key) }
      }
      var contents: [String: Data?] = [:]
      for (key, run) in edits {
        contents.updateValue(try run.map(coder.encode), forKey: key.text)
      }
      return (contents, result)
    }
  }
}
