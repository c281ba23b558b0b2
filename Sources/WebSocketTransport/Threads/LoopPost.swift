import CLibuv
import Synchronization

/// What goes to and fro between the first loop and one further loop: a mailbox in each direction, filled
/// once a turn.
///
/// Neither grows without bound. What a mailbox holds beyond its bound is waited for by who filled it, as a
/// single loop handles what it has read before it reads on. The two never wait for each other: a further
/// loop that waits takes its orders meanwhile.
final class LoopPost: Sendable {
  private struct Orders {
    var batch = OrderBatch()
    var bell: Bell?
  }

  private struct Reports {
    private var events: [TransportEvent] = []
    /// So many of them were taken.
    private var takenCount = 0
    private(set) var byteCount = 0
    var counters = TransportCounters()
    var isRunning = true

    var isEmpty: Bool { takenCount == events.count }

    mutating func append(_ more: [TransportEvent]) {
      events += more
      for event in more { byteCount += LoopPost.byteCount(of: event) }
    }

    mutating func take(atMost count: Int) -> ArraySlice<TransportEvent> {
      let taken = events[takenCount...].prefix(count)
      takenCount += taken.count
      for event in taken { byteCount -= LoopPost.byteCount(of: event) }
      if takenCount * 2 >= events.count {
        events.removeSubrange(..<takenCount)
        takenCount = 0
      }
      return taken
    }
  }

  private let orders = Mutex(Orders())
  private let reports = Mutex(Reports())
  private let firstBell: Bell

  /// Bytes of orders that may lie here before they are waited for.
  static let orderBytesMax = 8_388_608
  /// Bytes of reports. Few, because all that lies here is dealt with before what comes next.
  static let reportBytesMax = 65_536

  init(firstBell: Bell) { self.firstBell = firstBell }

  // MARK: The first loop

  /// Adds to what the further loop has not taken yet.
  func order(_ fill: (inout OrderBatch) -> Void) {
    let bell = orders.withLock { orders -> Bell? in
      let wasEmpty = orders.batch.isEmpty
      fill(&orders.batch)
      return wasEmpty && !orders.batch.isEmpty ? orders.bell : nil
    }
    bell?.ring()
  }

  /// Waits while the further loop is far behind.
  func waitForRoom() {
    // Rare, and a millisecond is less than what the other still has to do.
    while orders.withLock({ $0.batch.byteCount > Self.orderBytesMax }), isRunning { uv_sleep(1) }
  }

  /// Takes out the first of what was reported, in order.
  func takeReports(atMost count: Int) -> ArraySlice<TransportEvent> {
    reports.withLock { $0.take(atMost: count) }
  }

  var counters: TransportCounters { reports.withLock { $0.counters } }

  /// Whether the further loop has ended, and all that it told was taken out.
  var isExhausted: Bool { reports.withLock { !$0.isRunning && $0.isEmpty } }

  private var isRunning: Bool { reports.withLock { $0.isRunning } }

  // MARK: The further loop

  /// Rings this bell when there are orders, and at once if some lie here already.
  func hang(_ bell: Bell) {
    let isFilled = orders.withLock { orders -> Bool in
      orders.bell = bell
      return !orders.batch.isEmpty
    }
    if isFilled { bell.ring() }
  }

  /// Takes out what is to be done.
  func takeOrders() -> OrderBatch {
    orders.withLock { orders in
      let batch = orders.batch
      orders.batch = OrderBatch()
      return batch
    }
  }

  /// Tells what happened in this turn.
  func report(_ events: [TransportEvent], _ counters: TransportCounters) {
    let isNews = reports.withLock { reports in
      reports.counters = counters
      let isNews = reports.isEmpty && !events.isEmpty
      reports.append(events)
      return isNews
    }
    if isNews { firstBell.ring() }
  }

  /// Whether the first loop is far behind with what was reported.
  var isFarAhead: Bool { reports.withLock { $0.byteCount > Self.reportBytesMax } }

  /// Tells that nothing more will come.
  func reportEnd() {
    reports.withLock { $0.isRunning = false }
    firstBell.ring()
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
