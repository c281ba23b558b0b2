import Dispatch
import Foundation
import Synchronization

/// Notifies listeners of changed values, whichever process changed them.
///
/// The system reports the names of written files. A file's contents are compared with those seen last, so that the
/// store's own writes are not reported twice. Where the system gives no watch, the folder is scanned each second.
final class ChangeFeed: Sendable {
  private let folder: SharedFolder
  private let isWatched: Bool
  private let queue = DispatchQueue(label: "timerstorage.changes")
  private let state = Mutex(State())

  private struct State {
    weak var store: JSONFileStore?
    var watcher: FolderWatcher?
    var listeners: [Int: AsyncStream<JSONFileStore.Change>.Continuation] = [:]
    var listenersEver = 0
    var isOver = false
    var isPolling = false
    /// The folder's `Disk.digest` at the last scan; 0 before the first.
    var digest: UInt64 = 0
    /// Hashes of the files when they were written or reported last; nil for a removed file.
    var known: [FileName: Int?] = [:]
  }

  init(_ folder: SharedFolder, isWatched: Bool) {
    self.folder = folder
    self.isWatched = isWatched
  }

  /// The object of posted notifications.
  var store: JSONFileStore? {
    get { state.withLock { $0.store } }
    set { state.withLock { $0.store = newValue } }
  }

  /// Follows what others do, as soon as there is a folder.
  func watch() {
    guard isWatched else { return }
    let isPollDue = state.withLock { state in
      startWatching(&state)
      guard state.watcher == nil, !state.isOver, !state.isPolling else { return false }
      state.isPolling = true
      return true
    }
    guard isPollDue else { return }
    queue.async { [weak self] in self?.recordPresent() }
    schedulePoll(0)
  }

  private func startWatching(_ state: inout State) {
    guard state.watcher == nil, !state.isOver else { return }
    state.watcher = try? FolderWatcher(folder.path, queue: queue) { [weak self] names in
      self?.scan(at: names)
    } gone: { [weak self] in
      self?.watchAgain()
    }
  }

  // MARK: Without the system's help

  /// Remembers what the files hold, so that only what changes from here on is news.
  private func recordPresent() {
    try? folder.read { contents in
      for name in try contents.fileNames() {
        let hash = hash(try contents.read(name))
        state.withLock { state in
          if state.known[name] == nil { state.known[name] = .some(hash) }
        }
      }
    }
  }

  /// `seconds` is the duration of the last scan.
  private func schedulePoll(_ seconds: Double) {
    let pause = FolderPolling.pause(afterLookOf: seconds)
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.poll() }
  }

  private func poll() {
    let (digest, seconds) = FolderPolling.digest(ofFilesIn: folder.path)
    let (isNews, isDone) = state.withLock { state in
      startWatching(&state)
      let isDone = state.watcher != nil || state.isOver
      defer { (state.digest, state.isPolling) = (digest, !isDone) }
      // Nothing else reports changes between the last scan and the first watch.
      return (!state.isOver && (digest != state.digest || isDone), isDone)
    }
    if isNews { scan(at: nil) }
    guard !isDone else { return }
    // Reading changed files is not counted, since it happens once.
    schedulePoll(seconds)
  }

  /// The folder is not where it was; there may be another one by now, or a little later.
  private func watchAgain() {
    let gone = state.withLock { state in
      defer { state.watcher = nil }
      return state.watcher
    }
    withExtendedLifetime(gone) {}
    watch()
    scan(at: nil)
  }

  func stream() -> AsyncStream<JSONFileStore.Change> {
    let (stream, continuation) = AsyncStream.makeStream(of: JSONFileStore.Change.self)
    let id = state.withLock { state in
      state.listenersEver += 1
      state.listeners[state.listenersEver] = continuation
      return state.listenersEver
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }
    watch()
    return stream
  }

  func end() {
    let (listeners, watcher) = state.withLock { state in
      defer { (state.listeners, state.watcher, state.isOver) = ([:], nil, true) }
      return (state.listeners.values, state.watcher)
    }
    withExtendedLifetime(watcher) {}
    for listener in listeners { listener.finish() }
  }

  // MARK: Changes

  /// Records a step of this store. Called while it holds the folder's lock.
  func recordOwn(_ step: FolderStep) {
    state.withLock { state in
      for change in step.changes { state.known[change.fileName] = .some(hash(change.contents)) }
    }
    notify(step.changes.map { ($0.fileName, $0.contents != nil) }, .thisStore)
  }

  /// On the queue. Where a file can't be read, the next event for it is another chance.
  private func scan(at names: [FileName]?) {
    let changes = try? folder.read { contents in
      let all = try names ?? contents.fileNames() + state.withLock { Array($0.known.keys) }
      return try Set(all.filter(\.isValue)).sorted().filter {
        try recordIfNew($0, contents.read($0))
      }
      .map { ($0, contents.has($0)) }
    }
    if let changes { notify(changes, .elsewhere) }
  }

  private func recordIfNew(_ name: FileName, _ contents: Data?) -> Bool {
    state.withLock { state in
      let hash = hash(contents)
      if let known = state.known[name], known == hash { return false }
      state.known[name] = .some(hash)
      return true
    }
  }

  /// The hash of all bytes; `Data` itself hashes only its first bytes.
  private func hash(_ contents: Data?) -> Int? {
    contents.map { Array($0).hashValue }
  }

  /// Reports changes in the order of their steps, on the queue, without holding a lock.
  private func notify(_ files: [(FileName, isThere: Bool)], _ origin: JSONFileStore.Change.Origin) {
    let changes = files.compactMap { name, isThere in
      name.key.map {
        JSONFileStore.Change(key: $0, kind: isThere ? .stored : .removed, origin: origin)
      }
    }
    guard !changes.isEmpty else { return }
    // The present listeners: a later one receives only later changes.
    let listeners = state.withLock { Array($0.listeners.values) }
    queue.async { self.deliver(changes, to: listeners) }
  }

  private func deliver(
    _ changes: [JSONFileStore.Change],
    to listeners: [AsyncStream<JSONFileStore.Change>.Continuation]
  ) {
    for listener in listeners {
      for change in changes { listener.yield(change) }
    }
    guard let store = state.withLock({ $0.store }) else { return }
    NotificationCenter.default.post(
      name: JSONFileStore.didChangeNotification, object: store,
      userInfo: [JSONFileStore.changedKeysUserInfoKey: changes.map(\.key)])
  }
}
