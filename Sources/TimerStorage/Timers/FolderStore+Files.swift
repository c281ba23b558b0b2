import Dispatch
import Synchronization

/// The timers' files, which follow their changes.
extension FolderStore {
  func scheduleFlush(_ pause: DispatchTimeInterval = .seconds(1)) {
    let isFirst = state.withLock { state in
      defer { state.isFlushScheduled = true }
      return !state.isFlushScheduled
    }
    guard isFirst else { return }
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.flush() }
  }

  /// Once a second, writes the files that are behind, a part at a time so that no change waits for all of them; without
  /// further changes, empties the log.
  func flush() {
    let (isUnderWay, isDone) = state.withLock { state in
      state.isFlushScheduled = false
      if state.round.isOver { state.round = FileRound(of: state.folder.fileNamesBehind) }
      setFileErrors(state.folder.writeFiles(of: state.round.next()), &state)
      scanContested(&state)
      if !state.fileErrors.isEmpty { state.round = FileRound() }
      guard state.round.isOver else { return (true, false) }
      let isBusy = state.groups != state.groupsAtFlush
      state.groupsAtFlush = state.groups
      if !isBusy { checkpoint(&state) }
      return (false, state.folder.isCheckpointed)
    }
    if isUnderWay { scheduleFlush(FileRound.pause) } else if !isDone { scheduleFlush() }
  }

  func checkpoint(_ state: inout State, staysBusy: Bool = false) {
    if let trouble = state.folder.placeTrouble ?? state.folder.startTrouble {
      return setFirstTrouble(trouble, &state)
    }
    do {
      try state.folder.checkpoint(staysBusy: staysBusy)
      setFileErrors([], &state)
    } catch {
      setFileErrors([error], &state)
    }
    scanContested(&state)
  }

  /// Sets the files' errors, and reports them once; none means that all is well again.
  func setFileErrors(_ errors: [DiskError], _ state: inout State) {
    guard errors != state.fileErrors else { return }
    state.fileErrors = errors
    report(.behind(errors.map(StorageTrouble.init)))
  }
}
