import CLibuv
import Synchronization

/// A loop with a thread of its own, which creates, runs and frees it. This object belongs to the main loop's thread.
final class WorkerLoop {
  let channel: LoopChannel
  private let thread: LoopThread
  /// Passed once to let the loop run, and once more to let it go.
  private let gate = Semaphore()
  private var isStarted = false
  private var isEnded = false

  /// Binds and listens; connections are accepted from `run` on.
  init(_ options: TransportOptions, _ place: LoopPlace, mainWaker: LoopWaker) throws(TransportError)
  {
    let channel = LoopChannel(mainWaker: mainWaker)
    let gate = gate
    let startup = StartupResult()
    let thread = LoopThread {
      do throws(TransportError) {
        let loop = try ServiceLoop(options, place)
        startup.set(nil)
        gate.wait()
        Self.run(loop, channel)
        // libwebsockets is ended by one thread at a time, as it was started.
        withExtendedLifetime(loop) { gate.wait() }
      } catch {
        startup.set(error)
      }
    }
    guard let thread else { throw .failed("no thread for loop \(place.number + 1)") }
    if let error = startup.wait() {
      thread.join()
      throw error
    }
    self.channel = channel
    self.thread = thread
  }

  deinit { end() }

  /// Begins to accept connections.
  func run() {
    guard !isStarted else { return }
    isStarted = true
    gate.signal()
  }

  /// Ends the loop at once and waits for its thread; open connections are dropped.
  func end() {
    guard !isEnded else { return }
    isEnded = true
    channel.enqueue { $0.finishes = true }
    run()
    gate.signal()
    thread.join()
  }

  /// Runs on the worker's thread. At the end of each iteration it posts its events and performs the actions that wait
  /// for it. While the main loop is far behind it reads nothing more.
  private static func run(_ loop: ServiceLoop, _ channel: LoopChannel) {
    var events: [TransportEvent] = []
    var counters = TransportCounters()
    loop.iterationEnded = { [unowned loop] in
      loop.publishCounts()
      let now = loop.transportCounters
      if !events.isEmpty || now != counters {
        counters = now
        channel.postEvents(events, counters)
        events.removeAll(keepingCapacity: true)
      }
      perform(channel.drainActions(), on: loop)
      while channel.isEventQueueFull, !loop.isOver {
        // Rare, and a millisecond is less than what the main loop still has to do.
        uv_sleep(1)
        perform(channel.drainActions(), on: loop)
      }
    }
    channel.attach(loop.waker)
    loop.run { event, _ in
      // The wake-up itself is enough: the iteration ends with the new actions.
      if case .woken = event { return }
      events.append(event)
    }
    loop.iterationEnded = nil
    channel.postEnd()
  }

  private static func perform(_ batch: ActionBatch, on loop: ServiceLoop) {
    if batch.reloadsCertificate { loop.reloadCertificate() }
    loop.carryOut(batch.actions)
    if batch.finishes { loop.finish() }
  }

  /// The result of starting a loop, set once by its thread.
  private final class StartupResult: Sendable {
    private let error = Mutex<TransportError?>(nil)
    private let isSet = Semaphore()

    func set(_ error: TransportError?) {
      self.error.withLock { $0 = error }
      isSet.signal()
    }

    func wait() -> TransportError? {
      isSet.wait()
      return error.withLock { $0 }
    }
  }
}
