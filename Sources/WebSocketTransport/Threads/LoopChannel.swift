import CLibuv
import Synchronization

/// What goes to and fro between the first loop and one further loop: a mailbox in each direction, filled
/// once a turn.
///
/// Neither grows without bound. What a mailbox holds beyond its bound is waited for by who filled it, as a
/// single loop handles what it has read before it reads on. The two never wait for each other: a further
/// loop that waits takes its orders meanwhile.
final class LoopChannel: Sendable {
  private struct PendingActions {
    var batch = ActionBatch()
    var waker: LoopWaker?
  }

  private struct PendingEvents {
    private var events: [TransportEvent] = []
    /// So many of them were taken.
    private var removedCount = 0
    private(set) var byteCount = 0
    var counters = TransportCounters()
    var isRunning = true

    var isEmpty: Bool { removedCount == events.count }

    mutating func append(_ more: [TransportEvent]) {
      events += more
      for event in more { byteCount += LoopChannel.byteCount(of: event) }
    }

    mutating func removeFirst(atMost count: Int) -> ArraySlice<TransportEvent> {
      let removed = events[removedCount...].prefix(count)
      removedCount += removed.count
      for event in removed { byteCount -= LoopChannel.byteCount(of: event) }
      if removedCount * 2 >= events.count {
        events.removeSubrange(..<removedCount)
        removedCount = 0
      }
      return removed
    }
  }

  private let pendingActions = Mutex(PendingActions())
  private let pendingEvents = Mutex(PendingEvents())
  private let mainWaker: LoopWaker

  /// Bytes of orders that may lie here before they are waited for.
  static let actionBytesMax = 8_388_608
  /// Bytes of reports. Few, because all that lies here is dealt with before what comes next.
  static let eventBytesMax = 65_536

  init(mainWaker: LoopWaker) { self.mainWaker = mainWaker }

  // MARK: The first loop

  /// Adds to what the further loop has not taken yet.
  func enqueue(_ fill: (inout ActionBatch) -> Void) {
    let waker = pendingActions.withLock { pendingActions -> LoopWaker? in
      let wasEmpty = pendingActions.batch.isEmpty
      fill(&pendingActions.batch)
      return wasEmpty && !pendingActions.batch.isEmpty ? pendingActions.waker : nil
    }
    waker?.wake()
  }

  /// Waits while the further loop is far behind.
  func waitForCapacity() {
    // Rare, and a millisecond is less than what the other still has to do.
    while pendingActions.withLock({ $0.batch.byteCount > Self.actionBytesMax }), isRunning {
      uv_sleep(1)
    }
  }

  /// Takes out the first of what was reported, in order.
  func drainEvents(atMost count: Int) -> ArraySlice<TransportEvent> {
    pendingEvents.withLock { $0.removeFirst(atMost: count) }
  }

  var counters: TransportCounters { pendingEvents.withLock { $0.counters } }

  /// Whether the further loop has ended, and all that it told was taken out.
  var isDrained: Bool { pendingEvents.withLock { !$0.isRunning && $0.isEmpty } }

  private var isRunning: Bool { pendingEvents.withLock { $0.isRunning } }

  // MARK: The further loop

  /// Rings this bell when there are orders, and at once if some lie here already.
  func attach(_ waker: LoopWaker) {
    let hasActions = pendingActions.withLock { pendingActions -> Bool in
      pendingActions.waker = waker
      return !pendingActions.batch.isEmpty
    }
    if hasActions { waker.wake() }
  }

  /// Takes out what is to be done.
  func drainActions() -> ActionBatch {
    pendingActions.withLock { pendingActions in
      let batch = pendingActions.batch
      pendingActions.batch = ActionBatch()
      return batch
    }
  }

  /// Tells what happened in this turn.
  func postEvents(_ events: [TransportEvent], _ counters: TransportCounters) {
    let isNews = pendingEvents.withLock { pendingEvents in
      pendingEvents.counters = counters
      let isNews = pendingEvents.isEmpty && !events.isEmpty
      pendingEvents.append(events)
      return isNews
    }
    if isNews { mainWaker.wake() }
  }

  /// Whether the first loop is far behind with what was reported.
  var isEventQueueFull: Bool { pendingEvents.withLock { $0.byteCount > Self.eventBytesMax } }

  /// Tells that nothing more will come.
  func postEnd() {
    pendingEvents.withLock { $0.isRunning = false }
    mainWaker.wake()
  }

  private static func byteCount(of event: TransportEvent) -> Int {
    switch event {
    case .received(_, let text), .receivedBinary(_, let text): 64 + text.count
    // A head is bounded, and mostly much smaller.
    case .opened: 1_024
    case .requested(_, let request): 1_024 + request.body.count
    case .closed, .deadline, .woken, .stopRequested, .reloadRequested: 64
    }
  }
}
