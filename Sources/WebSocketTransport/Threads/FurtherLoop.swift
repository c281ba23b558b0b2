import CLibuv
import Synchronization

/// A loop beside the first one, made, run and given up on a thread of its own. The first loop's thread
/// owns this object.
final class FurtherLoop {
  let post: LoopPost
  private let thread: LoopThread
  /// Passed once to let the loop run, and once more to let it go.
  private let gate = Semaphore()
  private var isLetRun = false
  private var isEnded = false

  /// Binds and listens; connections are accepted from `run` on.
  init(_ options: TransportOptions, _ place: LoopPlace, firstBell: Bell) throws(TransportError) {
    let post = LoopPost(firstBell: firstBell)
    let gate = gate
    let made = Made()
    let thread = LoopThread {
      do throws(TransportError) {
        let loop = try ServiceLoop(options, place)
        made.tell(nil)
        gate.wait()
        Self.run(loop, post)
        // libwebsockets is ended by one thread at a time, as it was started.
        withExtendedLifetime(loop) { gate.wait() }
      } catch {
        made.tell(error)
      }
    }
    guard let thread else { throw .failed("no thread for loop \(place.number + 1)") }
    if let error = made.wait() {
      thread.join()
      throw error
    }
    self.post = post
    self.thread = thread
  }

  deinit { end() }

  /// Begins to accept connections.
  func run() {
    guard !isLetRun else { return }
    isLetRun = true
    gate.signal()
  }

  /// Ends it at once, and waits until it is gone; what is connected still is dropped.
  func end() {
    guard !isEnded else { return }
    isEnded = true
    post.order { $0.finishes = true }
    run()
    gate.signal()
    thread.join()
  }

  /// The life of the loop, on its thread: at the end of each turn it reports what happened, and does what it is
  /// told. While the first loop is far behind it reads nothing more.
  private static func run(_ loop: ServiceLoop, _ post: LoopPost) {
    var events: [TransportEvent] = []
    var counters = TransportCounters()
    loop.turnEnded = { [unowned loop] in
      loop.tellCensus()
      let now = loop.transportCounters
      if !events.isEmpty || now != counters {
        counters = now
        post.report(events, counters)
        events.removeAll(keepingCapacity: true)
      }
      obey(post.takeOrders(), loop)
      while post.isFarAhead, !loop.isOver {
        // Rare, and a millisecond is less than what the first loop still has to do.
        uv_sleep(1)
        obey(post.takeOrders(), loop)
      }
    }
    post.hang(loop.bell)
    loop.run { event, _ in
      // The bell has done its part: the turn ends with the orders.
      if case .woken = event { return }
      events.append(event)
    }
    loop.turnEnded = nil
    post.reportEnd()
  }

  private static func obey(_ orders: OrderBatch, _ loop: ServiceLoop) {
    if orders.reloadsCertificate { loop.reloadCertificate() }
    loop.carryOut(orders.actions)
    if orders.finishes { loop.finish() }
  }

  /// How the making of a loop went, told once by one thread to another.
  private final class Made: Sendable {
    private let error = Mutex<TransportError?>(nil)
    private let isTold = Semaphore()

    func tell(_ error: TransportError?) {
      self.error.withLock { $0 = error }
      isTold.signal()
    }

    func wait() -> TransportError? {
      isTold.wait()
      return error.withLock { $0 }
    }
  }
}
