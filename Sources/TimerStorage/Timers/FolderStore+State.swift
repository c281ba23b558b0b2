import Foundation
import TimerCore

extension FolderStore {
  /// The state of the disk's thread.
  struct State {
    var folder: TimerFolder
    /// Writes that failed and may still be built on, with their faults.
    var failed: [UInt64: StorageTrouble] = [:]
    /// The number of groups, to detect new ones.
    var groups = 0
    var groupsAtFlush = 0
    var isFlushScheduled = false
    var round = FileRound()
    var fileErrors: [DiskError] = []
    /// The reported reason for refusing changes.
    var trouble: StorageTrouble?
    var isProbeScheduled = false
    /// True if the folder was replaced: writes that were decided for the previous one are refused.
    var isReplaced = false
    /// Seconds until files that could not be read are tried again.
    var retryDelay = Self.retryDelayMin
    var isRetryScheduled = false
    var isPolling = false
    /// The folder's `Disk.digest` at the last scan; 0 before the first.
    var digest: UInt64 = 0
    /// Files that are gone or damaged at a first look; true: there is one.
    var doubts = Rechecks<FileName, Bool>()

    static let retryDelayMin = 1
    static let retryDelayMax = 60
  }
}

extension FolderStore.State {
  /// Returns the changes that others made to these files, or to any, and the rechecks to be made.
  mutating func changesByOthers(
    _ names: [FileName]?
  ) -> (changes: [ExternalChange], rechecks: [FileName: UInt64]) {
    var (changes, doubtful) = folder.changesByOthers(names)
    if names == nil {
      // Also where the folder could not be looked through.
      let more = folder.changesByOthers(Array(Set(doubts.subjects).subtracting(doubtful)))
      changes += more.changes
      doubtful += more.doubtful
    }
    for name in Set(names ?? doubts.subjects).subtracting(doubtful) { doubts.cancel(name) }
    var rechecks: [FileName: UInt64] = [:]
    for name in doubtful {
      rechecks[name] = doubts.schedule(name, finding: folder.hasFile(name))
    }
    return (changes, rechecks)
  }

  /// The files that still need a recheck: those whose existence is as before, and the others.
  mutating func completeRechecks(
    _ rechecks: [FileName: UInt64]
  ) -> (same: [FileName], other: [FileName]) {
    var (same, other): ([FileName], [FileName]) = ([], [])
    for (name, number) in rechecks {
      guard let wasThere = doubts.complete(name, number) else { continue }
      if folder.hasFile(name) == wasThere { same.append(name) } else { other.append(name) }
    }
    return (same, other)
  }

  /// Commits changes. One that is based on a failed one is refused, since it would bring that one to the disk.
  ///
  /// The outcome is the disk's error, or whether the disk was used at all.
  mutating func commit(
    _ changes: [StoredChange]
  ) -> (reports: [StoreReport], outcome: Result<Bool, DiskError>) {
    groups += 1
    let acknowledged = changes.map(\.reported).max() ?? 0
    failed = failed.filter { $0.key > acknowledged }
    var valid: [StoredChange] = []
    var reports: [StoreReport] = []
    let refusal =
      isReplaced ? StorageTrouble(DiskError("find", folder.path, code: ESTALE)) : nil
    for change in changes {
      if let trouble = refusal ?? change.bases.compactMap({ failed[$0] }).first {
        reports.append(fail(change, trouble))
      } else {
        valid.append(change)
      }
    }
    let outcome: Result<Bool, DiskError>
    do {
      try folder.commit(valid)
      reports += valid.map { StoreReport(ticket: $0.ticket, outcome: .made) }
      outcome = .success(!valid.isEmpty)
    } catch {
      let trouble = StorageTrouble(error)
      for change in valid { reports.append(fail(change, trouble)) }
      outcome = .failure(error)
    }
    return (reports.sorted { $0.ticket < $1.ticket }, outcome)
  }

  private mutating func fail(_ change: StoredChange, _ trouble: StorageTrouble) -> StoreReport {
    failed[change.ticket] = trouble
    return StoreReport(ticket: change.ticket, outcome: .failed(trouble))
  }
}
