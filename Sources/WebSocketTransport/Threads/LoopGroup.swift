import CLibuv

/// The service loops of one server on one port: `TransportOptions.loopCount` of them.
///
/// The first runs on the caller's thread and is the only one that speaks with the server, obeys signals
/// and keeps deadlines; each further one has a thread, a listening socket and connections of its own,
/// tells the first what happens on them, and is told what to do, once a turn. A broadcast's bytes are
/// made once and shared. With one loop there is none of this: the loop is handed the server's own closure.
///
/// Make it, listen to mailboxes, and `run` it, all on one thread.
public final class LoopGroup {
  private let first: ServiceLoop
  private let further: [FurtherLoop]
  private var router: LoopRouter
  /// What the server wants done about the event under way.
  private var wanted: [TransportAction] = []
  /// The further loop whose reports come next.
  private var nextReporter = 0

  /// Binds and listens; connections are accepted from `run` on.
  public init(_ options: TransportOptions) throws(TransportError) {
    let loopCount = min(max(1, options.loopCount), LoopPlace.countMax)
    router = LoopRouter(loopCount: loopCount)
    guard loopCount > 1 else {
      first = try ServiceLoop(options)
      further = []
      return
    }
    let census = LoopCensus()
    first = try ServiceLoop(options, LoopPlace(number: 0, census: census))
    var options = options
    options.port = first.port
    var loops: [FurtherLoop] = []
    // One after the other, because libwebsockets does not say that it may be started by two at once.
    for number in 1..<loopCount {
      let place = LoopPlace(number: number, census: census)
      loops.append(try FurtherLoop(options, place, firstBell: first.bell))
    }
    further = loops
  }

  deinit { endFurther() }

  /// The port that was really bound.
  public var port: Int { first.port }

  /// What was turned away so far, and what is open now, over all loops.
  public var transportCounters: TransportCounters {
    var counters = first.transportCounters
    for loop in further { counters.add(loop.post.counters) }
    return counters
  }

  /// As `ServiceLoop.listen(to:)`, of the first loop.
  public func listen<Message>(to mailbox: Mailbox<Message>) { first.listen(to: mailbox) }

  /// As `ServiceLoop.stop()`.
  public func stop() { first.stop() }

  /// As `ServiceLoop.obey(_:stopWithin:end:)`, for all loops.
  public func obey(
    _ signals: ProcessSignals, stopWithin seconds: Double,
    end: @escaping @Sendable (ProcessSignals.Urgency) -> Never
  ) {
    first.obey(signals, stopWithin: seconds, end: end)
  }

  /// As `ServiceLoop.run(_:)`: `handle` is called on this thread, for the connections of all loops.
  ///
  /// What one connection is sent keeps its order. The actions for connections of further loops are carried
  /// out a little later than those for the first one's.
  public func run(_ handle: (TransportEvent, inout [TransportAction]) -> Void) {
    guard !further.isEmpty else { return first.run(handle) }
    first.turnEnded = { [unowned self] in endTurn() }
    first.isHeld = { [unowned self] in !further.allSatisfy(\.post.isExhausted) }
    first.certificateReloaded = { [unowned self] in
      for loop in further { loop.post.order { $0.reloadsCertificate = true } }
    }
    for loop in further { loop.run() }
    first.run { event, actions in
      if case .woken = event { handleReports(&actions, handle) }
      pass(event, &actions, handle)
    }
    (first.turnEnded, first.isHeld, first.certificateReloaded) = (nil, nil, nil)
    endFurther()
  }

  /// Handles what the further loops have reported, of each in turn and not for long: then the first one looks at its
  /// own sockets and deadlines, and comes back for the rest.
  private func handleReports(
    _ own: inout [TransportAction],
    _ handle: (TransportEvent, inout [TransportAction]) -> Void
  ) {
    let end = uv_hrtime() + Self.reportsNanoseconds
    var silentCount = 0
    while silentCount < further.count {
      let reports = further[nextReporter].post.takeReports(atMost: Self.reportsAtOnce)
      nextReporter = (nextReporter + 1) % further.count
      silentCount = reports.isEmpty ? silentCount + 1 : 0
      for event in reports where router.admits(event) { pass(event, &own, handle) }
      if uv_hrtime() > end { return first.bell.ring() }
    }
  }

  /// A tick that is due waits no longer than this.
  private static let reportsNanoseconds: UInt64 = 5_000_000
  private static let reportsAtOnce = 8

  private func pass(
    _ event: TransportEvent, _ own: inout [TransportAction],
    _ handle: (TransportEvent, inout [TransportAction]) -> Void
  ) {
    wanted.removeAll(keepingCapacity: true)
    handle(event, &wanted)
    router.route(wanted, own: &own)
  }

  private func endTurn() {
    first.tellCensus()
    for (index, loop) in further.enumerated() {
      let actions = router.takeOutgoing(index + 1)
      guard !actions.isEmpty else { continue }
      loop.post.order { batch in for action in actions { batch.append(action) } }
    }
    for loop in further { loop.post.waitForRoom() }
  }

  private func endFurther() {
    for loop in further { loop.end() }
  }
}
