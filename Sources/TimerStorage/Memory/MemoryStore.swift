import Synchronization

/// One server's way to timers in memory. What it submits waits until somebody commits it.
final class MemoryStore: TimerStore {
  /// The timers, which several servers may share.
  final class Space: Sendable {
    let timers: Mutex<MemoryTimers>

    init(isShared: Bool = false) {
      timers = Mutex(MemoryTimers(isShared: isShared))
    }
  }

  let server: String
  private let space: Space
  private let waiting = Mutex<[StoredChange]>([])
  private let report: @Sendable (StoreEvent) -> Void

  /// `server` names one run of the server; `report` is called by the thread that commits.
  init(_ space: Space, server: String, report: @escaping @Sendable (StoreEvent) -> Void) {
    self.space = space
    self.server = server
    self.report = report
  }

  func load() throws(StoreFailure) -> StoreContents {
    space.timers.withLock { $0.contents(for: server) }
  }

  func watch() throws(StorageTrouble) {}

  func submit(_ changes: [StoredChange]) {
    waiting.withLock { $0 += changes }
  }

  /// Stores the first of the waiting changes, or refuses them, and reports what others have changed.
  func commit(first count: Int = .max, trouble: StorageTrouble? = nil) {
    let changes = waiting.withLock { waiting in
      defer { waiting.removeFirst(min(count, waiting.count)) }
      return Array(waiting.prefix(count))
    }
    let exchange = space.timers.withLock { $0.exchange(changes, with: server, trouble: trouble) }
    for event in exchange.events { report(event) }
  }

  func acknowledgeReplacement() {}

  var unreportedCount: Int { waiting.withLock { $0.count } }

  func finish() { commit() }

  func finish(within seconds: Double) -> StoreFinish {
    commit()
    return .done
  }
}
