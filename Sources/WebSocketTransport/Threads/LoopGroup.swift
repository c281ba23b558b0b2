import CLibuv

/// The event loops of one server on one port: `TransportOptions.loopCount` of them.
///
/// The main loop runs on the caller's thread. It alone talks to the server, handles signals and keeps deadlines. Each
/// worker loop has its own thread, listening socket and connections. Once an iteration it sends its events to the main
/// loop and takes its actions. A broadcast's bytes are made once and shared. With one loop there is none of this: the
/// loop calls the server's closure itself.
///
/// Make it, listen to mailboxes, and `run` it, all on one thread.
public final class LoopGroup {
  private let mainLoop: ServiceLoop
  private let workers: [WorkerLoop]
  private var router: LoopRouter
  /// The server's actions for the current event.
  private var pendingActions: [TransportAction] = []
  /// The worker whose events are handled next.
  private var nextWorker = 0

  /// Binds and listens; connections are accepted from `run` on.
  public init(_ options: TransportOptions) throws(TransportError) {
    let loopCount = min(max(1, options.loopCount), LoopPlace.countMax)
    router = LoopRouter(loopCount: loopCount)
    guard loopCount > 1 else {
      mainLoop = try ServiceLoop(options)
      workers = []
      return
    }
    let totals = LoopTotals()
    mainLoop = try ServiceLoop(options, LoopPlace(number: 0, totals: totals))
    var options = options
    options.port = mainLoop.port
    var workerLoops: [WorkerLoop] = []
    // One after the other, because libwebsockets does not say that it may be started by two at once.
    for number in 1..<loopCount {
      let place = LoopPlace(number: number, totals: totals)
      workerLoops.append(try WorkerLoop(options, place, mainWaker: mainLoop.waker))
    }
    workers = workerLoops
  }

  deinit { endWorkers() }

  /// The port that was really bound.
  public var port: Int { mainLoop.port }

  /// The counters of all loops: rejections since the start, and open connections.
  public var transportCounters: TransportCounters {
    var counters = mainLoop.transportCounters
    for loop in workers { counters.add(loop.channel.counters) }
    return counters
  }

  /// As `ServiceLoop.listen(to:)`, for the main loop.
  public func listen<Message>(to mailbox: Mailbox<Message>) { mainLoop.listen(to: mailbox) }

  /// As `ServiceLoop.stop()`.
  package func stop() { mainLoop.stop() }

  /// As `ServiceLoop.handleSignals(_:stopWithin:end:)`, for all loops.
  public func handleSignals(
    _ signals: ProcessSignals, stopWithin seconds: Double,
    end: @escaping @Sendable (ProcessSignals.ForcedStop) -> Never
  ) {
    mainLoop.handleSignals(signals, stopWithin: seconds, end: end)
  }

  /// As `ServiceLoop.run(_:)`: `handle` is called on this thread, for the connections of all loops.
  ///
  /// Each connection gets its messages in order. Actions for connections of worker loops are carried out a little later
  /// than those for the main loop's own.
  public func run(_ handle: (TransportEvent, inout [TransportAction]) -> Void) {
    guard !workers.isEmpty else { return mainLoop.run(handle) }
    mainLoop.iterationEnded = { [unowned self] in endIteration() }
    mainLoop.waitsForWorkers = { [unowned self] in !workers.allSatisfy(\.channel.isDrained) }
    mainLoop.certificateReloaded = { [unowned self] in
      for loop in workers { loop.channel.enqueue { $0.reloadsCertificate = true } }
    }
    for loop in workers { loop.run() }
    mainLoop.run { event, actions in
      if case .woken = event { handleWorkerEvents(&actions, handle) }
      deliver(event, &actions, to: handle)
    }
    (mainLoop.iterationEnded, mainLoop.waitsForWorkers, mainLoop.certificateReloaded) = (
      nil, nil, nil
    )
    endWorkers()
  }

  /// Handles events of the worker loops in turn, for a limited time. Then the main loop serves its own sockets and
  /// deadlines, and comes back for the rest.
  private func handleWorkerEvents(
    _ own: inout [TransportAction],
    _ handle: (TransportEvent, inout [TransportAction]) -> Void
  ) {
    let end = uv_hrtime() + Self.workerEventsNanosecondsMax
    var idleCount = 0
    while idleCount < workers.count {
      let events = workers[nextWorker].channel.drainEvents(atMost: Self.workerEventsAtOnce)
      nextWorker = (nextWorker + 1) % workers.count
      idleCount = events.isEmpty ? idleCount + 1 : 0
      for event in events where router.admit(event) { deliver(event, &own, to: handle) }
      if uv_hrtime() > end { return mainLoop.waker.wake() }
    }
  }

  /// A tick that is due waits no longer than this.
  private static let workerEventsNanosecondsMax: UInt64 = 5_000_000
  private static let workerEventsAtOnce = 8

  private func deliver(
    _ event: TransportEvent, _ own: inout [TransportAction],
    to handle: (TransportEvent, inout [TransportAction]) -> Void
  ) {
    pendingActions.removeAll(keepingCapacity: true)
    handle(event, &pendingActions)
    router.route(pendingActions, own: &own)
  }

  private func endIteration() {
    mainLoop.publishCounts()
    for (index, loop) in workers.enumerated() {
      let actions = router.drainOutgoing(index + 1)
      guard !actions.isEmpty else { continue }
      loop.channel.enqueue { batch in for action in actions { batch.append(action) } }
    }
    for loop in workers { loop.channel.waitForCapacity() }
  }

  private func endWorkers() {
    for loop in workers { loop.end() }
  }
}
