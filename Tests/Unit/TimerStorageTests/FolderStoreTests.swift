import Dispatch
import Foundation
import Synchronization
import Testing
import TimerCore

@testable import TimerStorage

/// The events that a writer has reported.
private final class Notes: Sendable {
  private let notes = Mutex<[StoreEvent]>([])

  func add(_ note: StoreEvent) { notes.withLock { $0.append(note) } }

  private var reports: [StoreReport] {
    notes.withLock { notes in
      notes.flatMap { note -> [StoreReport] in
        if case .reported(let reports) = note { reports } else { [] }
      }
    }
  }

  var tickets: [UInt64] { reports.map(\.ticket) }
  var successes: [UInt64] {
    reports.filter { $0.outcome == .made }.map(\.ticket)
  }
  /// The number of files that are behind, for each report of it.
  var behind: [Int] {
    notes.withLock { notes in
      notes.compactMap { note -> Int? in
        if case .behind(let errors) = note { errors.count } else { nil }
      }
    }
  }
}

@Suite struct `The disk's thread` {
  private let temporary = TemporaryFolder()
  private let notes = Notes()

  private func writer() throws -> FolderStore {
    FolderStore(folder: try TimerFolder(path: temporary.path, clock: .now)) { [notes] in
      notes.add($0)
    }
  }

  @Test func `reports a write when it is done`() throws {
    let writer = try writer()

    writer.submit([.make(1)])
    writer.finish()

    #expect(notes.successes == [1])
    #expect(temporary.read("tea.json") != nil)
  }

  @Test func `reports nothing for no writes`() throws {
    let writer = try writer()

    writer.submit([])
    writer.finish()

    #expect(notes.tickets == [])
  }

  @Test func `reports 1 000 writes that come at once, in their order`() throws {
    let writer = try writer()

    writer.submit((1...1_000).map { .make(UInt64($0), "t\($0 % 50)", revision: $0) })
    writer.finish()

    #expect(notes.successes == Array(1...1_000))
    #expect(temporary.read("t0.json")?.contains("\"revision\": 1000") == true)
  }

  @Test func `reports 1 000 writes that come one by one, in their order`() throws {
    let writer = try writer()

    for ticket in 1...1_000 { writer.submit([.make(UInt64(ticket), revision: ticket)]) }
    writer.finish()

    #expect(notes.successes == Array(1...1_000))
    #expect(temporary.read("tea.json")?.contains("\"revision\": 1000") == true)
  }

  @Test func `keeps the order between writes of one file and of several`() throws {
    let writer = try writer()
    let both = StoredChange(
      ticket: 2, timers: [id("tea"): .make(revision: 2), id("rice"): .make("rice", revision: 2)],
      bases: [1])

    writer.submit([.make(1, revision: 1), both, .make(3, revision: 3, bases: [2])])
    writer.finish()

    #expect(notes.successes == [1, 2, 3])
    #expect(temporary.read("tea.json")?.contains("\"revision\": 3") == true)
    #expect(temporary.read("rice.json")?.contains("\"revision\": 2") == true)
  }

  @Test func `reports files that are behind once, and once when they have caught up`() throws {
    let writer = try writer()
    try temporary.makeFolder("tea.json")

    writer.submit([.make(1)])
    writer.finish()
    writer.finish()
    try temporary.remove("tea.json")
    writer.finish()

    #expect(notes.successes == [1])
    #expect(notes.behind == [1, 0])
    #expect(temporary.read("tea.json") != nil)
  }
}

@Suite struct `The end of the disk's thread` {
  private let temporary = TemporaryFolder()
  private let notes = Notes()
  /// The disk's thread blocks in `report` until it is released.
  private let gate = DispatchSemaphore(value: 0)

  private func writer(hangs: Bool = false) throws -> FolderStore {
    FolderStore(folder: try TimerFolder(path: temporary.path, clock: .now)) { [notes, gate] in
      notes.add($0)
      if hangs { gate.wait() }
    }
  }

  @Test func `comes when all is stored`() throws {
    let writer = try writer()
    writer.submit((1...20).map { .make(UInt64($0), "t\($0)", revision: $0) })

    #expect(writer.finish(within: 60) == .done)
    #expect(writer.unreportedCount == 0)
    #expect(notes.successes == Array(1...20))
    #expect(temporary.read("t20.json") != nil)
  }

  @Test func `does not wait for a disk that hangs`() throws {
    let writer = try writer(hangs: true)
    writer.submit([.make(1)])
    writer.submit([.make(2)])

    #expect(writer.finish(within: 0.05) == .unanswered)
    #expect(writer.unreportedCount > 0)

    for _ in 0..<10 { gate.signal() }
    #expect(writer.finish(within: 60) == .done)
    #expect(writer.unreportedCount == 0)
    #expect(notes.successes == [1, 2])
  }

  @Test func `leaves files to the next start for which there is no time`() throws {
    let writer = try writer()
    writer.submit((1...20).map { .make(UInt64($0), "t\($0)", revision: $0) })

    let finish = writer.finish(filesUntil: .now() - 1, answerBy: .now() + 60)

    #expect(finish == .behind)
    #expect(writer.unreportedCount == 0)
    #expect(temporary.read("t20.json") == nil)
    #expect(writer.finish(within: 60) == .done)
    #expect(temporary.read("t20.json") != nil)
  }

  @Test func `counts a refused write as answered`() throws {
    try temporary.breakLog()
    let writer = try writer()
    writer.submit([.make(1), .make(2)])

    #expect(writer.finish(within: 60) == .done)
    #expect(writer.unreportedCount == 0)
    #expect(notes.tickets == [1, 2] && notes.successes == [])
  }
}

@Suite struct `The disk's thread after a failure` {
  private let temporary = TemporaryFolder()
  private let notes = Notes()
  private let writer: FolderStore

  /// A writer whose write 1, of `tea`, has failed; another one would not.
  init() throws {
    try temporary.breakLog()
    writer = FolderStore(folder: try TimerFolder(path: temporary.path, clock: .now)) { [notes] in
      notes.add($0)
    }
    writer.submit([.make(1)])
    writer.finish()
    try #require(notes.tickets == [1] && notes.successes == [])
  }

  @Test func `has written nothing of it`() {
    #expect(temporary.read("tea.json") == nil)
  }

  @Test func `refuses what builds on the failed write`() {
    writer.submit([.make(2, bases: [1])])
    writer.finish()

    #expect(notes.tickets == [1, 2])
    #expect(notes.successes == [])
    #expect(temporary.read("tea.json") == nil)
  }

  @Test func `refuses what builds on what builds on it, one after the other`() {
    writer.submit([.make(2, bases: [1])])
    writer.finish()
    writer.submit([.make(3, bases: [2])])
    writer.finish()

    #expect(notes.successes == [])
    #expect(temporary.read("tea.json") == nil)
  }

  @Test func `refuses what builds on what builds on it, in one go`() {
    writer.submit([.make(2, bases: [1]), .make(3, bases: [2]), .make(4, bases: [3])])
    writer.finish()

    #expect(notes.tickets == [1, 2, 3, 4])
    #expect(notes.successes == [])
    #expect(temporary.read("tea.json") == nil)
  }

  @Test func `refuses a write of several files that builds on it, as a whole`() {
    let both = StoredChange(
      ticket: 2, timers: [id("tea"): .make(), id("rice"): .make("rice")], bases: [1])

    writer.submit([both, .make(3, "rice", bases: [2])])
    writer.finish()

    #expect(notes.successes == [])
    #expect(temporary.read("rice.json") == nil)
  }

  @Test func `takes what doesn't build on it`() {
    writer.submit([.make(2, bases: [1]), .make(3, "rice")])
    writer.finish()

    #expect(notes.tickets == [1, 2, 3])
    #expect(notes.successes == [3])
    #expect(temporary.read("rice.json") != nil)
  }

  @Test func `accepts a write of the same timer from a caller that knows of the failure`() {
    writer.submit([.make(2, reported: 1)])
    writer.finish()

    #expect(notes.successes == [2])
    #expect(temporary.read("tea.json") != nil)
  }
}

@Suite struct `The disk's thread watching the folder` {
  private let temporary = TemporaryFolder()

  /// The changes by others, as they are reported one after another.
  private final class Watch: Sendable {
    private let changes = Mutex<[ExternalChange]>([])
    private let bell = DispatchSemaphore(value: 0)

    func hear(_ note: StoreEvent) {
      guard case .external(let more) = note else { return }
      changes.withLock { $0 += more }
      bell.signal()
    }

    var changesSoFar: [ExternalChange] { changes.withLock { $0 } }

    /// Waits for the first report; returns all changes so far.
    func changesTold() -> [ExternalChange] {
      _ = bell.wait(timeout: .now() + 30)
      return changes.withLock { $0 }
    }
  }

  /// A store that has stored these writes and reports changes by others.
  private func writer(_ writes: [StoredChange], heardBy watch: Watch) throws -> FolderStore {
    let writer = FolderStore(folder: try TimerFolder(path: temporary.path, clock: .now)) {
      watch.hear($0)
    }
    try writer.watch(temporary.path)
    writer.submit(writes)
    writer.finish()
    return writer
  }

  @Test func `reports an edit, and not its own writes`() throws {
    let watch = Watch()
    let writer = try writer([.make(1), .make(2, "rice")], heardBy: watch)
    var edited = TimerRecord.make()
    edited.timer.settings.title = "by hand"

    try temporary.replace("tea.json", by: edited.contents())
    let changes = withExtendedLifetime(writer) { watch.changesTold() }

    guard case .edited(let record) = changes.first, changes.count == 1 else {
      Issue.record("\(changes)")
      return
    }
    #expect(record == edited)
  }

  @Test func `reports a removal`() throws {
    let watch = Watch()
    let writer = try writer([.make(1)], heardBy: watch)

    try temporary.remove("tea.json")
    let changes = withExtendedLifetime(writer) { watch.changesTold() }

    guard case .removed(let removed) = changes.first, changes.count == 1 else {
      Issue.record("\(changes)")
      return
    }
    #expect(removed == id("tea"))
  }

  // The folder is away at 0 to 0.05 s and at 0.45 to 0.55 s: only an absence of half a second is a removal.
  @Test func `reports nothing for a file that is gone for a moment twice`() throws {
    let watch = Watch()
    let writer = try writer([.make(1)], heardBy: watch)

    for seconds in [0.05, 0.1] {
      try move("tea.json", "away")
      Thread.sleep(forTimeInterval: seconds)
      try move("away", "tea.json")
      if seconds == 0.05 { Thread.sleep(forTimeInterval: 0.4) }
    }
    writer.finish()

    #expect(watch.changesSoFar.isEmpty)
  }

  private func move(_ from: String, _ target: String) throws {
    try FileManager.default.moveItem(
      atPath: temporary.path(from), toPath: temporary.path(target))
  }
}
