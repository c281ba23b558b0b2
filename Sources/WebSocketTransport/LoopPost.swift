import CLibuv
import Synchronization

/// What goes to and fro between the first loop and one further loop: a mailbox in each direction, filled
/// once a turn.
///
/// Neither grows without bound. What a mailbox holds beyond its bound is waited for by who filled it, as a
/// single loop waits for its own sends before it reads on. The two never wait for each other: a further
/// loop stops waiting when it has orders, and takes them.
final class LoopPost: Sendable {
  private struct Orders {
    var batch = OrderBatch()
    var bell: Bell?
  }

  private struct Reports {
    var events: [TransportEvent] = []
    var byteCount = 0
    var counters = TransportCounters()
    var isRunning = true
  }

  private let orders = Mutex(Orders())
  private let reports = Mutex(Reports())
  private let firstBell: Bell

  /// Bytes that may lie in either direction before it is waited for.
  static let bytesMax = 8_388_608

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
    while orders.withLock({ $0.batch.byteCount > Self.bytesMax }), isRunning { uv_sleep(1) }
  }

  /// Takes out what was reported, in order.
  func takeReports() -> [TransportEvent] {
    reports.withLock { reports in
      let events = reports.events
      reports.events = []
      reports.byteCount = 0
      return events
    }
  }

  var counters: TransportCounters { reports.withLock { $0.counters } }

  /// Whether the further loop has ended, and all that it told was taken out.
  var isExhausted: Bool { reports.withLock { !$0.isRunning && $0.events.isEmpty } }

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

  /// Tells what happened in this turn, and waits while the first loop is far behind.
  func report(_ events: [TransportEvent], _ counters: TransportCounters) {
    let isNews = reports.withLock { reports in
      reports.counters = counters
      let isNews = reports.events.isEmpty && !events.isEmpty
      reports.events += events
      for event in events { reports.byteCount += Self.byteCount(of: event) }
      return isNews
    }
    if isNews { firstBell.ring() }
    while reports.withLock({ $0.byteCount > Self.bytesMax }),
      orders.withLock({ $0.batch.isEmpty })
    { uv_sleep(1) }
  }

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
    case .closed, .deadline, .woken, .stopRequested: 64
    }
  }
}
