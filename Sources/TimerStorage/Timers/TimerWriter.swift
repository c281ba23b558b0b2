import Dispatch
import Foundation
import Synchronization

/// The disk's own thread: takes writes from the loop, makes them durable in groups, and reports.
///
/// Writes that arrive while one group is under way go together in the next.
public final class TimerWriter: Sendable {
  private let inbox = Mutex(Inbox())
  /// Of the disk's thread alone; the lock is never waited for.
  private let state: Mutex<State>
  private let thread = DispatchQueue(label: "timersync.disk", qos: .userInitiated)
  private let report: @Sendable (DiskEvent) -> Void

  private struct Inbox {
    var waiting: [TimerWrite] = []
    /// The number of submitted writes that are not reported.
    var unreportedCount = 0
    /// True if the waiting writes were decided with knowledge of the folder's replacement.
    var isReplacementAcknowledged = false
  }

  fileprivate struct State {
    var folder: TimerFolder
    /// Writes that failed and may still be built on, with their faults.
    var failed: [UInt64: DiskError] = [:]
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
    /// Until files that can't be read are looked at again.
    var retryDelay = Self.retryDelayMin
    var isRetryScheduled = false
    var isPolling = false
    /// Of the folder's files when they were looked through last; 0: they were not.
    var digest: UInt64 = 0
    /// Files that are gone or damaged at a first look; true: there is one.
    var doubts = Rechecks<FileName, Bool>()

    static let retryDelayMin = 1
    static let retryDelayMax = 60
  }

  private struct Watchers {
    var files: FolderWatcher?
    var inside: FolderWatcher?
  }

  private let watchers = Mutex<Watchers?>(nil)

  /// So many changes at once are in their files before they are answered.
  private static let fewWrites = 4
  /// An editor that empties or removes a file first has brought it back by then.
  private static let editPause = DispatchTimeInterval.milliseconds(500)
  private static let probePause = DispatchTimeInterval.seconds(1)

  /// `report` is called on the disk's thread, with the tickets in their order; and here, when the folder takes no
  /// changes from the start on.
  public init(folder: sending TimerFolder, report: @escaping @Sendable (DiskEvent) -> Void) {
    let trouble = folder.startTrouble
    let isRetryDue = !folder.unreadable.isEmpty
    var state = State(folder: folder)
    state.trouble = trouble
    self.state = Mutex(state)
    self.report = report
    if let trouble {
      report(.writable(trouble))
      scheduleProbe()
    }
    if isRetryDue { scheduleRetry() }
  }

  /// Reports changes by others to the folder and its files from here on.
  ///
  /// Throws the reason if the system gives no watch. The folder is scanned each second then, or less often if that
  /// takes long.
  public func watch(_ path: String) throws(DiskError) {
    startPolling()
    try startWatching(path)
  }

  private func startWatching(_ path: String) throws(DiskError) {
    // One that did not see all of this folder is of no use any more.
    watchers.withLock { $0 = nil }
    let files = try FolderWatcher(path, queue: thread) { [weak self] names in
      self?.scan(at: names)
    } gone: { [weak self] in
      self?.inspect()
    }
    let inside = try? FolderWatcher(path + "/" + JSONFolder.insideName, queue: thread) {
      [weak self] _ in
      self?.inspect()
    } gone: { [weak self] in
      self?.inspect()
    }
    watchers.withLock { $0 = Watchers(files: files, inside: inside) }
  }

  // MARK: Without the system's help

  private func startPolling() {
    let isFirst = state.withLock { state in
      defer { state.isPolling = true }
      return !state.isPolling
    }
    if isFirst { schedulePoll(0) }
  }

  private func schedulePoll(_ seconds: Double) {
    let pause = FolderPolling.pause(afterLookOf: seconds)
    thread.asyncAfter(deadline: .now() + pause) { [weak self] in self?.poll() }
  }

  private func poll() {
    var seconds = 0.0
    // A link above the folder may lead elsewhere by now, which no watch reports.
    if inspect(), watchers.withLock({ $0 == nil }) { seconds = scanForEdits() }
    schedulePoll(seconds)
  }

  /// Returns how many seconds the scan took; reading changed files is not counted, since it happens once.
  private func scanForEdits() -> Double {
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

  private func scan(at names: [FileName]?) {
    // In a folder that was moved away, files are missing that no one has removed.
    guard inspect() else { return }
    let (changes, rechecks) = state.withLock { $0.changesByOthers(names) }
    reportEdits(changes)
    guard !rechecks.isEmpty else { return }
    thread.asyncAfter(deadline: .now() + Self.editPause) { [weak self] in
      self?.recheck(rechecks)
    }
  }

  private func recheck(_ rechecks: [FileName: UInt64]) {
    let (same, other) = state.withLock { $0.completeRechecks(rechecks) }
    guard inspect() else { return }
    reportEdits(state.withLock { $0.folder.changesByOthers(same, isRecheck: true).changes })
    if !other.isEmpty { scan(at: other) }
    // Files that waited for the recheck may be written now.
    scheduleFlush()
  }

  private func reportEdits(_ changes: [ExternalChange]) {
    if !changes.isEmpty { report(.external(changes)) }
    if state.withLock({ !$0.folder.unreadable.isEmpty }) { scheduleRetry() }
  }

  /// Scans files that were changed by others before they could be written, and reports those that were replaced.
  private func scanContested(_ state: inout State) {
    let putAside = state.folder.drainPutAside()
    if !putAside.isEmpty { report(.external(putAside.map(ExternalChange.damaged))) }
    let contested = state.folder.drainContested()
    guard !contested.isEmpty else { return }
    thread.async { [weak self] in self?.scan(at: contested) }
  }

  // MARK: Trouble

  /// Returns whether the folder is where it was; reports if not.
  @discardableResult
  private func inspect() -> Bool {
    state.withLock { state in
      guard let trouble = state.folder.placeTrouble else { return true }
      setFirstTrouble(trouble, &state)
      return false
    }
  }

  /// Sets a trouble unless there is one already, which the next probe updates.
  private func setFirstTrouble(_ trouble: StorageTrouble, _ state: inout State) {
    if state.trouble == nil { setTrouble(trouble, &state) }
  }

  /// Sets why changes are refused, and reports it once; nil means that they are accepted.
  private func setTrouble(_ trouble: StorageTrouble?, _ state: inout State) {
    if trouble != nil { scheduleProbe(&state) }
    guard trouble != state.trouble else { return }
    state.trouble = trouble
    report(.writable(trouble))
  }

  private func scheduleProbe() {
    state.withLock { scheduleProbe(&$0) }
  }

  private func scheduleProbe(_ state: inout State) {
    guard !state.isProbeScheduled else { return }
    state.isProbeScheduled = true
    thread.asyncAfter(deadline: .now() + Self.probePause) { [weak self] in self?.probe() }
  }

  /// Once a second while changes are not taken, tries whether they can be.
  private func probe() {
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
  private func endTrouble() {
    try? startWatching(state.withLock { $0.folder.path })
    scan(at: nil)
    state.withLock { state in
      // The folder may be gone again.
      if let trouble = state.folder.placeTrouble {
        setTrouble(trouble, &state)
      } else {
        setTrouble(nil as StorageTrouble?, &state)
      }
    }
  }

  /// Looks again at files that could not be read: each second at first, and then less often.
  private func scheduleRetry() {
    let pause = state.withLock { state -> Int? in
      guard !state.isRetryScheduled else { return nil }
      state.isRetryScheduled = true
      defer { state.retryDelay = min(State.retryDelayMax, 2 * state.retryDelay) }
      return state.retryDelay
    }
    guard let pause else { return }
    thread.asyncAfter(deadline: .now() + .seconds(pause)) { [weak self] in self?.retry() }
  }

  private func retry() {
    let names = state.withLock { state in
      state.isRetryScheduled = false
      let names = state.folder.unreadable
      if names.isEmpty { state.retryDelay = State.retryDelayMin }
      return names
    }
    if !names.isEmpty { scan(at: names) }
  }

  // MARK: Changes

  /// Called once the hub has handled the folder's replacement: writes submitted from here on are for the new folder.
  public func acknowledgeReplacement() {
    // In its order among what was submitted.
    let isFirst = inbox.withLock { inbox in
      defer {
        inbox.isReplacementAcknowledged = true
        inbox.unreportedCount -= inbox.waiting.count
        inbox.waiting = []
      }
      return inbox.waiting.isEmpty && !inbox.isReplacementAcknowledged
    }
    if isFirst { thread.async { self.commitWaiting() } }
  }

  /// Any thread; returns at once.
  public func submit(_ writes: [TimerWrite]) {
    guard !writes.isEmpty else { return }
    let isFirst = inbox.withLock { inbox in
      defer { inbox.waiting += writes }
      inbox.unreportedCount += writes.count
      return inbox.waiting.isEmpty && !inbox.isReplacementAcknowledged
    }
    if isFirst { thread.async { self.commitWaiting() } }
  }

  /// The number of submitted writes that the disk has not answered. Any thread; never waits.
  public var unreportedCount: Int { inbox.withLock { $0.unreportedCount } }

  /// Returns once all that was submitted is reported and in its files, however long the disk takes; not for the
  /// loop's thread while it runs.
  public func finish() {
    thread.sync { state.withLock { checkpoint(&$0) } }
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
    report(.stored(reports))
    if isRecovered { endTrouble() }
    inbox.withLock { $0.unreportedCount -= writes.count }
    state.withLock { state in
      if state.folder.isCheckpointDue { checkpoint(&state, staysBusy: true) }
    }
    scheduleFlush()
  }

  // MARK: At the end

  /// How far the disk came in the time that it was given to finish.
  public enum Finish: Sendable, Equatable {
    /// All that was submitted is reported and in its files, as far as the disk takes it.
    case done
    /// All is reported, and there was no time for all of the files.
    case filesBehind
    /// The disk did not answer.
    case unanswered
  }

  /// As `finish()`, for so many seconds at the most: files are written for half of them, and a disk that hangs is
  /// given up.
  public func finish(within seconds: Double) -> Finish {
    let now = DispatchTime.now()
    return finish(filesUntil: now + seconds / 2, answerBy: now + seconds)
  }

  func finish(filesUntil halfway: DispatchTime, answerBy end: DispatchTime) -> Finish {
    let isDone = Answer()
    thread.async { isDone.fulfill(self.state.withLock { self.finish(&$0, until: halfway) }) }
    return switch isDone.wait(until: end) {
    case true: .done
    case false: .filesBehind
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

  // MARK: After the answers

  private func scheduleFlush(_ pause: DispatchTimeInterval = .seconds(1)) {
    let isFirst = state.withLock { state in
      defer { state.isFlushScheduled = true }
      return !state.isFlushScheduled
    }
    guard isFirst else { return }
    thread.asyncAfter(deadline: .now() + pause) { [weak self] in self?.flush() }
  }

  /// Once a second, writes the files that are behind, a part at a time so that no change waits for all of them; without
  /// further changes, empties the log.
  private func flush() {
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

  private func checkpoint(_ state: inout State, staysBusy: Bool = false) {
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
  private func setFileErrors(_ errors: [DiskError], _ state: inout State) {
    guard errors != state.fileErrors else { return }
    state.fileErrors = errors
    report(.filesBehind(errors))
  }
}

/// The files that were behind when a round of writing them began, a part at a time.
///
/// A timer that changes a thousand times a second is in its file once a second: to replace a file costs the
/// disk many times what the log does.
private struct FileRound {
  private var fileNames: ArraySlice<FileName> = []
  private var atOnce = 1

  /// Changes that arrive between two parts are handled first.
  static let pause = DispatchTimeInterval.milliseconds(5)
  /// So many parts at the most, so that a round of many files is over within a second too.
  private static let partsMax = 100

  init() {}

  init(of fileNames: [FileName]) {
    self.fileNames = fileNames[...]
    atOnce = max(1, fileNames.count / Self.partsMax)
  }

  var isOver: Bool { fileNames.isEmpty }

  mutating func next() -> ArraySlice<FileName> {
    defer { fileNames = fileNames.dropFirst(atOnce) }
    return fileNames.prefix(atOnce)
  }
}

/// Events from the disk's thread.
public enum DiskEvent: Sendable {
  case stored([WriteReport])
  /// Someone else edited, added or removed files.
  case external([ExternalChange])
  /// Files that can't be written though their changes are safe in the log; none: all is well again.
  case filesBehind([DiskError])
  /// Changes are refused for this reason; nil: they are accepted again.
  case writable(StorageTrouble?)
  /// Another folder is at the path and in use: its timers replace the others. Every write is refused until
  /// `TimerWriter.acknowledgeReplacement` is called.
  case restored(TimerFolder.Contents)
}

extension TimerWriter.State {
  /// Returns the changes that others made to these files, or to any, and the rechecks to be made.
  fileprivate mutating func changesByOthers(
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
  fileprivate mutating func completeRechecks(
    _ rechecks: [FileName: UInt64]
  ) -> (same: [FileName], other: [FileName]) {
    var (same, other): ([FileName], [FileName]) = ([], [])
    for (name, number) in rechecks {
      guard let wasThere = doubts.complete(name, number) else { continue }
      if folder.hasFile(name) == wasThere { same.append(name) } else { other.append(name) }
    }
    return (same, other)
  }

  /// Commits writes. One that is based on a failed write is refused, since it would bring that one to the disk.
  ///
  /// The outcome is the disk's error, or whether the disk was used at all.
  fileprivate mutating func commit(
    _ writes: [TimerWrite]
  ) -> (reports: [WriteReport], outcome: Result<Bool, DiskError>) {
    groups += 1
    let acknowledged = writes.map(\.reported).max() ?? 0
    failed = failed.filter { $0.key > acknowledged }
    var valid: [TimerWrite] = []
    var reports: [WriteReport] = []
    let refusal = isReplaced ? DiskError("find", folder.path, code: ESTALE) : nil
    for write in writes {
      if let error = refusal ?? write.bases.compactMap({ failed[$0] }).first {
        failed[write.ticket] = error
        reports.append(WriteReport(ticket: write.ticket, result: .failure(error)))
      } else {
        valid.append(write)
      }
    }
    let outcome: Result<Bool, DiskError>
    do {
      try folder.commit(valid)
      reports += valid.map { WriteReport(ticket: $0.ticket, result: .success(())) }
      outcome = .success(!valid.isEmpty)
    } catch {
      for write in valid { failed[write.ticket] = error }
      reports += valid.map { WriteReport(ticket: $0.ticket, result: .failure(error)) }
      outcome = .failure(error)
    }
    return (reports.sorted { $0.ticket < $1.ticket }, outcome)
  }
}
