import Dispatch
import Foundation
import Synchronization
public import TimerCore

/// Timers in a folder of JSON files, with a log that is synced first; changes are made on a thread of its own.
///
/// It has the folder for itself, so its changes are never overtaken and no request was made elsewhere.
public final class FolderStore: TimerStore {
  private let inbox = Mutex(Inbox())
  /// Used on the disk's thread only, so that nothing ever waits for the lock.
  let state: Mutex<State>
  let queue = DispatchQueue(label: "timersync.disk", qos: .userInitiated)
  let report: @Sendable (StoreEvent) -> Void
  let watchers = Mutex<Watchers?>(nil)

  private struct Inbox {
    var waiting: [StoredChange] = []
    /// The number of submitted writes that are not reported.
    var unreportedCount = 0
    /// True if the waiting writes were decided with knowledge of the folder's replacement.
    var isReplacementAcknowledged = false
  }

  struct Watchers {
    var files: FolderWatcher?
    var inside: FolderWatcher?
  }

  /// The largest group whose files are written before its changes are answered.
  private static let fewWrites = 4
  /// An editor that empties or removes a file first has brought it back by then.
  static let editPause = DispatchTimeInterval.milliseconds(500)
  static let probePause = DispatchTimeInterval.seconds(1)

  /// `report` is called on the disk's thread; and here, when the folder takes no changes from the start on.
  init(folder: sending TimerFolder, report: @escaping @Sendable (StoreEvent) -> Void) {
    state = Mutex(State(folder: folder))
    self.report = report
    reportStart()
  }

  /// Opens the folder at a path and changes nothing in it; the clocks read `clock` now. `report` is called on the
  /// disk's thread; and by `load`, when the folder takes no changes from the start on.
  public convenience init(
    path: String, clock: ClockReading, report: @escaping @Sendable (StoreEvent) -> Void
  ) throws(StoreFailure) {
    let folder: TimerFolder
    do { folder = try TimerFolder(path: path, clock: clock) } catch { throw StoreFailure(error) }
    self.init(folder: folder, report: report)
  }

  public func load() throws(StoreFailure) -> StoreContents {
    let contents = state.withLock { state in
      Result { () throws(FolderError) in try state.folder.load() }
    }
    reportStart()
    do { return try contents.get() } catch { throw StoreFailure(error) }
  }

  /// Reports and tries again what the start could not do.
  private func reportStart() {
    let isRetryDue = state.withLock { state in
      if let trouble = state.folder.startTrouble { setFirstTrouble(trouble, &state) }
      return !state.folder.unreadable.isEmpty
    }
    if isRetryDue { scheduleRetry() }
  }

  /// Throws the reason if the system gives no watch. The folder is scanned each second then, or less often if that
  /// takes long.
  public func watch() throws(StorageTrouble) {
    do { try watch(state.withLock { $0.folder.path }) } catch {
      let reason =
        "the data folder is scanned each second, since the system gives no watch: "
        + "\(error)\(error.advice)"
      throw StorageTrouble(reason: error.reason, description: reason)
    }
  }

  // MARK: Changes

  /// Called once the hub has handled the folder's replacement: writes submitted from here on are for the new folder.
  public func acknowledgeReplacement() {
    // The acknowledgement keeps its place among the submitted changes.
    let isFirst = inbox.withLock { inbox in
      defer {
        inbox.isReplacementAcknowledged = true
        inbox.unreportedCount -= inbox.waiting.count
        inbox.waiting = []
      }
      return inbox.waiting.isEmpty && !inbox.isReplacementAcknowledged
    }
    if isFirst { queue.async { self.commitWaiting() } }
  }

  /// Any thread; returns at once.
  public func submit(_ writes: [StoredChange]) {
    guard !writes.isEmpty else { return }
    let isFirst = inbox.withLock { inbox in
      defer { inbox.waiting += writes }
      inbox.unreportedCount += writes.count
      return inbox.waiting.isEmpty && !inbox.isReplacementAcknowledged
    }
    if isFirst { queue.async { self.commitWaiting() } }
  }

  /// The number of submitted writes that the disk has not answered. Any thread; never waits.
  public var unreportedCount: Int { inbox.withLock { $0.unreportedCount } }

  /// Returns once all that was submitted is reported and in its files, however long the disk takes; not for the
  /// loop's thread while it runs.
  public func finish() {
    queue.sync { state.withLock { checkpoint(&$0) } }
  }

  private func commitWaiting() {
    let (writes, isReplacementAcknowledged) = inbox.withLock { inbox in
      defer {
        inbox.waiting = []
        inbox.isReplacementAcknowledged = false
      }
      return (inbox.waiting, inbox.isReplacementAcknowledged)
    }
    let (reports, isRecovered) = state.withLock { state in
      if isReplacementAcknowledged { state.isReplaced = false }
      // A few changes are written to their files before they are answered, for readers of the files. With many at once
      // the files follow later, since replacing one takes longer than answering.
      let areFew = writes.count <= Self.fewWrites && !state.folder.isBehind
      let (reports, outcome) = state.commit(writes)
      var isRecovered = false
      switch outcome {
      case .success(true): isRecovered = state.trouble != nil
      case .success(false): break
      case .failure(let error):
        setFirstTrouble(state.folder.placeTrouble ?? StorageTrouble(error), &state)
      }
      if areFew {
        setFileErrors(state.folder.writeFiles(), &state)
        scanContested(&state)
      }
      return (reports, isRecovered)
    }
    report(.reported(reports))
    if isRecovered { endTrouble() }
    inbox.withLock { $0.unreportedCount -= writes.count }
    state.withLock { state in
      if state.folder.isCheckpointDue { checkpoint(&state, staysBusy: true) }
    }
    scheduleFlush()
  }

  // MARK: At the end

  /// As `finish()`, for at most `seconds`: files are written during the first half, and a disk that hangs is given up.
  public func finish(within seconds: Double) -> StoreFinish {
    let now = DispatchTime.now()
    return finish(filesUntil: now + seconds / 2, answerBy: now + seconds)
  }

  func finish(filesUntil halfway: DispatchTime, answerBy end: DispatchTime) -> StoreFinish {
    let isDone = Answer()
    queue.async { isDone.fulfill(self.state.withLock { self.finish(&$0, until: halfway) }) }
    return switch isDone.wait(until: end) {
    case true: .done
    case false: .behind
    case nil: .unanswered
    }
  }

  /// Returns whether there was time for every file.
  private func finish(_ state: inout State, until end: DispatchTime) -> Bool {
    var round = FileRound(of: state.folder.fileNamesBehind)
    while !round.isOver {
      guard DispatchTime.now() < end else { return false }
      // The checkpoint tries again, and reports what the disk refuses.
      _ = state.folder.writeFiles(of: round.next())
    }
    checkpoint(&state)
    return true
  }

  /// A result that one thread waits for from another.
  private final class Answer: Sendable {
    private let answer = Mutex<Bool?>(nil)
    private let isFulfilled = DispatchSemaphore(value: 0)

    func fulfill(_ answer: Bool) {
      self.answer.withLock { $0 = answer }
      isFulfilled.signal()
    }

    /// nil when it did not come in time.
    func wait(until end: DispatchTime) -> Bool? {
      isFulfilled.wait(timeout: end) == .success ? answer.withLock { $0 } : nil
    }
  }
}

extension StoreFailure {
  init(_ error: FolderError) {
    switch error {
    case .newer: self = .newer("\(error)")
    case .disk, .owned: self = .unusable(error.explanation)
    }
  }
}
