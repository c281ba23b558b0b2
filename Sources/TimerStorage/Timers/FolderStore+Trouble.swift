import Dispatch
import Synchronization

/// A folder that takes no changes for now, and files that can't be read for now.
extension FolderStore {
  /// Returns whether the folder is where it was; reports if not.
  @discardableResult
  func inspect() -> Bool {
    state.withLock { state in
      guard let trouble = state.folder.placeTrouble else { return true }
      setFirstTrouble(trouble, &state)
      return false
    }
  }

  /// Sets a trouble unless there is one already, which the next probe updates.
  func setFirstTrouble(_ trouble: StorageTrouble, _ state: inout State) {
    if state.trouble == nil { setTrouble(trouble, &state) }
  }

  /// Sets why changes are refused, and reports it once; nil means that they are accepted.
  func setTrouble(_ trouble: StorageTrouble?, _ state: inout State) {
    if trouble != nil { scheduleProbe(&state) }
    guard trouble != state.trouble else { return }
    state.trouble = trouble
    report(.writable(trouble))
  }

  func scheduleProbe() {
    state.withLock { scheduleProbe(&$0) }
  }

  func scheduleProbe(_ state: inout State) {
    guard !state.isProbeScheduled else { return }
    state.isProbeScheduled = true
    queue.asyncAfter(deadline: .now() + Self.probePause) { [weak self] in self?.probe() }
  }

  /// Once a second while changes are not taken, tries whether they can be.
  func probe() {
    let isRecovered = state.withLock { state in
      state.isProbeScheduled = false
      guard state.trouble != nil || state.folder.placeTrouble != nil else { return false }
      do throws(StorageTrouble) {
        let contents = try state.folder.recover()
        if let contents {
          state.failed = [:]
          state.round = FileRound()
          state.isReplaced = true
          report(.restored(contents))
        }
        return true
      } catch {
        setTrouble(error, &state)
        return false
      }
    }
    if isRecovered { endTrouble() }
    scheduleFlush()
  }

  /// Accepts changes again, after reporting what others did to the files meanwhile.
  func endTrouble() {
    try? startWatching(state.withLock { $0.folder.path })
    scan(at: nil)
    state.withLock { state in
      // The folder may be gone again.
      setTrouble(state.folder.placeTrouble, &state)
    }
  }

  /// Looks again at files that could not be read: each second at first, and then less often.
  func scheduleRetry() {
    let pause = state.withLock { state -> Int? in
      guard !state.isRetryScheduled else { return nil }
      state.isRetryScheduled = true
      defer { state.retryDelay = min(State.retryDelayMax, 2 * state.retryDelay) }
      return state.retryDelay
    }
    guard let pause else { return }
    queue.asyncAfter(deadline: .now() + .seconds(pause)) { [weak self] in self?.retry() }
  }

  func retry() {
    let names = state.withLock { state in
      state.isRetryScheduled = false
      let names = state.folder.unreadable
      if names.isEmpty { state.retryDelay = State.retryDelayMin }
      return names
    }
    if !names.isEmpty { scan(at: names) }
  }
}
