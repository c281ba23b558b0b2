import CLibuv
import Synchronization

/// The channel between the main loop and one worker loop: a bounded queue in each direction, filled once an iteration.
///
/// A loop whose outgoing queue is over its limit waits for the other, as a single loop handles what it has read before
/// it reads on. The two never wait for each other: a worker that waits keeps taking actions.
final class LoopChannel: Sendable {
  private struct PendingActions {
    var batch = ActionBatch()
    var waker: LoopWaker?
  }

  private struct PendingEvents {
    private var events: [TransportEvent] = []
    /// The number of events at the front of `events` that were taken already.
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

  /// The bytes of actions that may be queued before the main loop waits for the worker.
  static let actionBytesMax = 8_388_608
  /// The bytes of events that may be queued. Few, because the main loop handles all of them in one go.
  static let eventBytesMax = 65_536

  init(mainWaker: LoopWaker) { self.mainWaker = mainWaker }

  // MARK: On the main loop

  /// Adds actions for the worker loop.
  func enqueue(_ fill: (inout ActionBatch) -> Void) {
    let waker = pendingActions.withLock { pendingActions -> LoopWaker? in
      let wasEmpty = pendingActions.batch.isEmpty
      fill(&pendingActions.batch)
      return wasEmpty && !pendingActions.batch.isEmpty ? pendingActions.waker : nil
    }
    waker?.wake()
  }

  /// Waits while the worker loop's queue is over its limit.
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

  /// True if the worker loop has ended and all of its events were taken.
  var isDrained: Bool { pendingEvents.withLock { !$0.isRunning && $0.isEmpty } }

  private var isRunning: Bool { pendingEvents.withLock { $0.isRunning } }

  // MARK: On the worker loop

  /// Wakes this loop when actions are added, and at once if there are some already.
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

  /// Hands the events of one iteration to the main loop.
  func postEvents(_ events: [TransportEvent], _ counters: TransportCounters) {
    let isNews = pendingEvents.withLock { pendingEvents in
      pendingEvents.counters = counters
      let isNews = pendingEvents.isEmpty && !events.isEmpty
      pendingEvents.append(events)
      return isNews
    }
    if isNews { mainWaker.wake() }
  }

  /// True if the main loop is far behind with the worker's events.
  var isEventQueueFull: Bool { pendingEvents.withLock { $0.byteCount > Self.eventBytesMax } }

  /// Reports that the worker loop has ended.
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
