import Dispatch
import Synchronization

/// The disk's own thread: takes writes from the loop, makes them durable in groups, and reports.
///
/// Writes that arrive while one group is under way go together in the next.
public final class TimerWriter: Sendable {
  private let inbox = Mutex(Inbox())
  /// Of the disk's thread alone; the lock is never waited for.
  private let state: Mutex<State>
  private let thread = DispatchQueue(label: "timersync.disk", qos: .userInitiated)
  private let report: @Sendable (DiskNote) -> Void

  private struct Inbox {
    var waiting: [TimerWrite] = []
    /// How many writes were submitted and are not reported.
    var unreportedCount = 0
  }

  fileprivate struct State {
    var folder: TimerFolder
    /// Writes that failed and may still be built on, with their faults.
    var failed: [UInt64: DiskError] = [:]
    /// Counts groups, to tell whether one came meanwhile.
    var groups = 0
    var groupsAtTidy = 0
    var isTidyComing = false
    var round = FileRound()
    var fileErrors: [DiskError] = []
  }

  private let watcher = Mutex<FolderWatcher?>(nil)

  /// So many changes at once are in their files before they are answered.
  private static let fewWrites = 4
  /// An editor that empties a file first has filled it again by then.
  private static let editPause = DispatchTimeInterval.milliseconds(200)

  /// `report` is called on the disk's thread, with the tickets in their order.
  public init(folder: sending TimerFolder, report: @escaping @Sendable (DiskNote) -> Void) {
    state = Mutex(State(folder: folder))
    self.report = report
  }

  /// Tells from here on what others do to the files of the folder.
  public func watch(_ path: String) throws(DiskError) {
    let watcher = try FolderWatcher(path, queue: thread) { [weak self] names in
      self?.look(at: names, isSecondLook: false)
    }
    self.watcher.withLock { $0 = watcher }
  }

  private func look(at names: [FileName]?, isSecondLook: Bool) {
    let (changes, doubtful) = state.withLock {
      $0.folder.changesByOthers(names, isSecondLook: isSecondLook)
    }
    if !changes.isEmpty { report(.external(changes)) }
    guard !doubtful.isEmpty else { return }
    thread.asyncAfter(deadline: .now() + Self.editPause) { [weak self] in
      self?.look(at: doubtful, isSecondLook: true)
    }
  }

  /// Any thread; returns at once.
  public func submit(_ writes: [TimerWrite]) {
    guard !writes.isEmpty else { return }
    let isFirst = inbox.withLock { inbox in
      defer { inbox.waiting += writes }
      inbox.unreportedCount += writes.count
      return inbox.waiting.isEmpty
    }
    if isFirst { thread.async { self.commitWaiting() } }
  }

  /// How many of the writes that were submitted the disk has not answered; any thread, without a wait.
  public var unreportedCount: Int { inbox.withLock { $0.unreportedCount } }

  /// Returns once all that was submitted is reported and in its files, however long the disk takes; not for the
  /// loop's thread while it runs.
  public func finish() {
    thread.sync { state.withLock { checkpoint(&$0) } }
  }

  private func commitWaiting() {
    let writes = inbox.withLock { inbox in
      defer { inbox.waiting = [] }
      return inbox.waiting
    }
    let reports = state.withLock { state in
      // A few changes are in their files when they are answered, for whoever looks there next. Of many at
      // once the files follow: to replace one takes longer than to answer.
      let areFew = writes.count <= Self.fewWrites && !state.folder.isBehind
      let reports = state.commit(writes)
      if areFew { tell(state.folder.writeFiles(), &state) }
      return reports
    }
    report(.stored(reports))
    inbox.withLock { $0.unreportedCount -= writes.count }
    state.withLock { state in
      if state.folder.isCheckpointDue { checkpoint(&state, staysBusy: true) }
    }
    tidySoon()
  }

  // MARK: At the end

  /// What a disk made of the time that it was given to finish.
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
    thread.async { isDone.give(self.state.withLock { self.finish(&$0, until: halfway) }) }
    return switch isDone.wait(until: end) {
    case true: .done
    case false: .filesBehind
    case nil: .unanswered
    }
  }

  /// Whether there was time for every file.
  private func finish(_ state: inout State, until end: DispatchTime) -> Bool {
    var round = FileRound(of: state.folder.fileNamesBehind)
    while !round.isOver {
      guard DispatchTime.now() < end else { return false }
      // What the disk refuses here is tried once more, and told, by the checkpoint.
      _ = state.folder.writeFiles(of: round.next())
    }
    checkpoint(&state)
    return true
  }

  /// What one thread waits for from another.
  private final class Answer: Sendable {
    private let answer = Mutex<Bool?>(nil)
    private let isGiven = DispatchSemaphore(value: 0)

    func give(_ answer: Bool) {
      self.answer.withLock { $0 = answer }
      isGiven.signal()
    }

    /// nil when it did not come in time.
    func wait(until end: DispatchTime) -> Bool? {
      isGiven.wait(timeout: end) == .success ? answer.withLock { $0 } : nil
    }
  }

  // MARK: After the answers

  private func tidySoon(_ pause: DispatchTimeInterval = .seconds(1)) {
    let isFirst = state.withLock { state in
      defer { state.isTidyComing = true }
      return !state.isTidyComing
    }
    guard isFirst else { return }
    thread.asyncAfter(deadline: .now() + pause) { [weak self] in self?.tidy() }
  }

  /// Once a second, writes the files that are behind then, a part at a time so that no change waits for all
  /// of them; when nobody changes anything, empties the log.
  private func tidy() {
    let (isUnderWay, isDone) = state.withLock { state in
      state.isTidyComing = false
      if state.round.isOver { state.round = FileRound(of: state.folder.fileNamesBehind) }
      tell(state.folder.writeFiles(of: state.round.next()), &state)
      if !state.fileErrors.isEmpty { state.round = FileRound() }
      guard state.round.isOver else { return (true, false) }
      let isBusy = state.groups != state.groupsAtTidy
      state.groupsAtTidy = state.groups
      if !isBusy { checkpoint(&state) }
      return (false, state.folder.isCheckpointed)
    }
    if isUnderWay { tidySoon(FileRound.pause) } else if !isDone { tidySoon() }
  }

  private func checkpoint(_ state: inout State, staysBusy: Bool = false) {
    do {
      try state.folder.checkpoint(staysBusy: staysBusy)
      tell([], &state)
    } catch {
      tell([error], &state)
    }
  }

  /// Tells of what the disk refuses once, and once more when it is over.
  private func tell(_ errors: [DiskError], _ state: inout State) {
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

  /// Between two parts, changes that came meanwhile have their turn.
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

/// What the disk's thread tells.
public enum DiskNote: Sendable {
  case stored([WriteReport])
  /// Somebody else edited, added or removed files.
  case external([ExternalChange])
  /// Files that can't be written though their changes are safe in the log; none: all is well again.
  case filesBehind([DiskError])
}

extension TimerWriter.State {
  /// What builds on a write that failed must not reach the disk: it would bring that one with it.
  fileprivate mutating func commit(_ writes: [TimerWrite]) -> [WriteReport] {
    groups += 1
    let heard = writes.map(\.reported).max() ?? 0
    failed = failed.filter { $0.key > heard }
    var sound: [TimerWrite] = []
    var reports: [WriteReport] = []
    for write in writes {
      if let error = write.bases.compactMap({ failed[$0] }).first {
        failed[write.ticket] = error
        reports.append(WriteReport(ticket: write.ticket, result: .failure(error)))
      } else {
        sound.append(write)
      }
    }
    do {
      try folder.commit(sound)
      reports += sound.map { WriteReport(ticket: $0.ticket, result: .success(())) }
    } catch {
      for write in sound { failed[write.ticket] = error }
      reports += sound.map { WriteReport(ticket: $0.ticket, result: .failure(error)) }
    }
    return reports.sorted { $0.ticket < $1.ticket }
  }
}
