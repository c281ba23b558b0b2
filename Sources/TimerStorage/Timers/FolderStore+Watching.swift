import Dispatch
import Synchronization

/// Changes by others to the folder and its files.
extension FolderStore {
  /// As `watch()`, for the folder at this path.
  func watch(_ path: String) throws(DiskError) {
    startPolling()
    try startWatching(path)
  }

  func startWatching(_ path: String) throws(DiskError) {
    // One that did not see all of this folder is of no use any more.
    watchers.withLock { $0 = nil }
    let files = try FolderWatcher(path, queue: queue) { [weak self] names in
      self?.scan(at: names)
    } gone: { [weak self] in
      self?.inspect()
    }
    let inside = try? FolderWatcher(path + "/" + JSONFolder.insideName, queue: queue) {
      [weak self] _ in
      self?.inspect()
    } gone: { [weak self] in
      self?.inspect()
    }
    watchers.withLock { $0 = Watchers(files: files, inside: inside) }
  }

  // MARK: Without the system's help

  func startPolling() {
    let isFirst = state.withLock { state in
      defer { state.isPolling = true }
      return !state.isPolling
    }
    if isFirst { schedulePoll(0) }
  }

  func schedulePoll(_ seconds: Double) {
    let pause = FolderPolling.pause(afterLookOf: seconds)
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.poll() }
  }

  func poll() {
    var seconds = 0.0
    // A link above the folder may lead elsewhere by now, which no watch reports.
    if inspect(), watchers.withLock({ $0 == nil }) { seconds = scanForEdits() }
    schedulePoll(seconds)
  }

  /// Returns how many seconds the scan took; reading changed files is not counted, since it happens once.
  func scanForEdits() -> Double {
    let path = state.withLock { $0.folder.path }
    if (try? startWatching(path)) != nil {
      scan(at: nil)
      return 0
    }
    let (digest, seconds) = FolderPolling.digest(ofFilesIn: path)
    let isNews = state.withLock { state in
      defer { state.digest = digest }
      return digest != state.digest
    }
    if isNews { scan(at: nil) }
    return seconds
  }

  // MARK: What others do

  func scan(at names: [FileName]?) {
    // In a folder that was moved away, files are missing that no one has removed.
    guard inspect() else { return }
    let (changes, rechecks) = state.withLock { $0.changesByOthers(names) }
    reportEdits(changes)
    guard !rechecks.isEmpty else { return }
    queue.asyncAfter(deadline: .now() + Self.editPause) { [weak self] in
      self?.recheck(rechecks)
    }
  }

  func recheck(_ rechecks: [FileName: UInt64]) {
    let (same, other) = state.withLock { $0.completeRechecks(rechecks) }
    guard inspect() else { return }
    reportEdits(state.withLock { $0.folder.changesByOthers(same, isRecheck: true).changes })
    if !other.isEmpty { scan(at: other) }
    // Files that waited for the recheck may be written now.
    scheduleFlush()
  }

  func reportEdits(_ changes: [ExternalChange]) {
    if !changes.isEmpty { report(.external(changes)) }
    if state.withLock({ !$0.folder.unreadable.isEmpty }) { scheduleRetry() }
  }

  /// Scans files that were changed by others before they could be written, and reports those that were replaced.
  func scanContested(_ state: inout State) {
    let putAside = state.folder.drainQuarantined()
    if !putAside.isEmpty { report(.external(putAside.map(ExternalChange.damaged))) }
    let contested = state.folder.drainContested()
    guard !contested.isEmpty else { return }
    queue.async { [weak self] in self?.scan(at: contested) }
  }
}
