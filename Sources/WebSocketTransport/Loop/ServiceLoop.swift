import CLibuv

/// The event loop of the server's network: one thread, the listening sockets, every connection.
///
/// Make it, listen to mailboxes, and `run` it, all on one thread; it is not `Sendable`, so the compiler
/// holds you to it. Other threads reach it by a `Mailbox`.
final class ServiceLoop {
  let options: TransportOptions
  let eventLoop: EventLoop
  let webSockets: WebSocketContext
  var tls: TLSContext?
  private let listeners: [TCPListener]
  let waker: LoopWaker
  private var signals: ProcessSignals?
  private var iterationHook: IterationHook?
  private var serverTimer: LoopTimer?
  var deadlineTimer: LoopTimer?
  private var drainTimer: LoopTimer?

  var connections: ConnectionTable
  let descriptorLimits: DescriptorLimits
  /// True if this is the main loop, which talks to the server.
  let isMain: Bool
  var contribution: LoopContribution
  var addresses: AddressCounts
  var groups: [GroupID: Group] = [:]
  var exchanges: [UInt64: HTTPExchange] = [:]
  var exchangeSerial: UInt64 = 0
  var requests: [HTTPRequestID: HTTPExchange] = [:]
  var requestSerial: UInt64
  var deadlines = Deadlines()
  var deadlineSet: UInt64?
  /// True if a check for room to accept connections is armed.
  var isAcceptCheckArmed = false
  var relays: [UInt64: TLSRelay] = [:]
  let backlog = Backlog()
  /// This loop's share of what may wait for all readers.
  let backlogBytesMax: Int
  /// True if a check of slow readers is armed.
  var isBacklogCheckArmed = false
  /// Counts what waits for a connection that does not take all that it was sent.
  private(set) var fellBehind: (Connection) -> Void = { _ in }
  var counters = TransportCounters()
  /// The handshake that is being handed to libwebsockets.
  var pendingAdoption: Adoption?
  /// The frames of the broadcasts under way.
  let frames = WireFrames()
  /// The frame that goes to one connection.
  let singleFrame = WireFrames()
  /// Connections that are to get several frames of the broadcasts under way.
  var gathering: [Connection] = []
  /// Connections whose socket failed during a broadcast.
  var broken: [Connection] = []

  // Hooks for a loop that is one of several; nil for the only one.
  /// Called before the loop waits, once all events are handled. Events that it causes are handled at once, and then it
  /// is called again.
  var iterationEnded: (() -> Void)?
  /// Returns true if the loop has to keep running for the workers.
  var waitsForWorkers: (() -> Bool)?
  var certificateReloaded: (() -> Void)?

  private var handler: ((TransportEvent, inout [TransportAction]) -> Void)?
  private var events: [TransportEvent] = []
  private var actions: [TransportAction] = []
  private var isHandling = false
  /// When the current event was handed to the server, by `uv_hrtime`. Its deadline counts from then: sending a tick to
  /// ten thousand clients takes a tenth of a second, which would delay the next one.
  private var handledAt: UInt64 = 0
  private(set) var isStopping = false
  private var isDrainOver = false
  private(set) var isOver = false

  /// Milliseconds for a peer to answer a close frame, unless the server is stopping.
  static let closeTimeoutMilliseconds: UInt64 = 1_000
  static let sendBufferBytes = 131_072
  /// How long after the drain the main loop waits for workers that have not reported their end.
  private static let otherLoopsMicroseconds: Int64 = 200_000

  /// Binds and listens; connections are accepted from `run` on.
  convenience init(_ options: TransportOptions) throws(TransportError) {
    try self.init(options, .alone)
  }

  init(_ options: TransportOptions, _ place: LoopPlace) throws(TransportError) {
    self.options = options
    connections = ConnectionTable(serialBase: place.serialBase)
    requestSerial = place.serialBase
    contribution = LoopContribution(place.totals)
    isMain = place.isMain
    descriptorLimits = DescriptorLimits(options)
    backlogBytesMax = max(1, options.unsentBytesTotalMax / max(1, options.loopCount))
    addresses = AddressCounts(options, place.totals)
    if let files = options.tls { tls = try TLSContext(files) }
    eventLoop = try EventLoop()
    listeners = try Self.listeners(eventLoop, options, place)
    if place.isMain { LibraryLog.send(to: options.peerLog ?? options.log) }
    webSockets = try WebSocketContext(
      eventLoop, subprotocol: options.subprotocol, descriptorsMax: descriptorLimits.tableSize)
    waker = LoopWaker(eventLoop)
    if place.isMain, descriptorLimits.webSocketsMax < options.connectionsMax {
      options.log(
        .warning,
        "only \(descriptorLimits.webSocketsMax) connections fit: the descriptor limit is "
          + "\(descriptorLimits.limit), and each connection takes \(descriptorLimits.perWebSocket)")
    }
    if place.isMain { tls?.warnOfAge(options) }
    webSockets.listener = self
    for listener in listeners {
      listener.accepted = { [unowned self] in accepted($0, from: $1) }
      listener.canAccept = { [unowned self] in prepareToAccept() }
      listener.outOfDescriptors = { [unowned self] in armAcceptCheck() }
    }
    fellBehind = { [unowned self] in updateBacklog($0) }
    iterationHook = IterationHook(eventLoop) { [unowned self] in handleEvents() }
    serverTimer = LoopTimer(eventLoop) { [unowned self] in emit(.deadline) }
    deadlineTimer = LoopTimer(eventLoop) { [unowned self] in checkDeadlines() }
    drainTimer = LoopTimer(eventLoop) { [unowned self] in endDrain() }
  }

  deinit {
    // libuv and libwebsockets drop their references to this object here, on the thread that ran it.
    webSockets.listener = nil
    for exchange in exchanges.values { exchange.stream.close() }
    for relay in Array(relays.values) { relay.close() }
    for listener in listeners { listener.close() }
    iterationHook?.close()
    for timer in [serverTimer, deadlineTimer, drainTimer] { timer?.close() }
    waker.close()
    webSockets.close()
  }

  /// The port that was really bound, on each address.
  var port: Int { listeners[0].port }

  /// The counters of this loop: rejections since the start, and open connections.
  var transportCounters: TransportCounters {
    var counters = counters
    counters.webSocketCount = connections.count
    counters.httpConnectionCount = exchanges.count
    counters.tlsWebSocketCount = relays.count
    return counters
  }

  /// Makes a post to this mailbox a `TransportEvent.woken` of this loop.
  func listen<Message>(to mailbox: Mailbox<Message>) { mailbox.attach(waker) }

  /// Emits `TransportEvent.stopRequested`, as SIGINT and SIGTERM do.
  func stop() { emit(.stopRequested) }

  /// Turns signals into events of this loop: requests to stop into `TransportEvent.stopRequested`, requests to reload
  /// into `TransportEvent.reloadRequested`, after reloading the certificate.
  ///
  /// `end` ends the process at once. It is called on the signals' thread at a second request to stop, or when the stop
  /// takes longer than `seconds`, whatever this loop is doing.
  func handleSignals(
    _ signals: ProcessSignals, stopWithin seconds: Double,
    end: @escaping @Sendable (ProcessSignals.ForcedStop) -> Never
  ) {
    self.signals = signals
    signals.deliver(stopWithin: seconds, end: end)
    listen(to: signals.requests)
  }

  /// Runs until `TransportAction.stop` has drained.
  ///
  /// Each event is handed to `handle`, never from within itself, and the actions that it appends are
  /// carried out in order before the next event. The connections that are left when the drain is over are
  /// dropped.
  func run(_ handle: (TransportEvent, inout [TransportAction]) -> Void) {
    withoutActuallyEscaping(handle) { handle in
      handler = handle
      if !isOver { eventLoop.run() }
      handler = nil
    }
  }

  /// Queues an event; it is handled outside of all callbacks, before the loop waits again.
  func emit(_ event: TransportEvent) { events.append(event) }

  private func handleEvents() {
    guard !isHandling, let handler else { return }
    isHandling = true
    defer { isHandling = false }
    for listener in listeners { listener.resumeAccepting() }
    if waker.consumeWake() {
      handleSignalRequests()
      events.append(.woken)
    }
    repeat {
      while !events.isEmpty, !isOver {
        var batch: [TransportEvent] = []
        swap(&batch, &events)
        for event in batch where admit(event) {
          actions.removeAll(keepingCapacity: true)
          handledAt = uv_hrtime()
          handler(event, &actions)
          carryOut(actions)
          boundBacklog()
          if case .opened(let id, _) = event { connections[id]?.socket?.uncork() }
          if isOver { return }
        }
      }
      iterationEnded?()
    } while !events.isEmpty && !isOver
    finishIfDrained()
  }

  /// Nothing is delivered from a connection that is being closed but its end, which frees its identity.
  private func admit(_ event: TransportEvent) -> Bool {
    switch event {
    case .received(let id, _), .receivedBinary(let id, _):
      guard let connection = connections[id], !connection.isClosedByServer else { return false }
      return !connection.deferIfPaused(event)
    case .closed(let id):
      guard let connection = connections[id] else { return false }
      connections.remove(id)
      addresses.releaseSlot(connection.addressSlot)
      return connection.isAnnounced
    default: return true
    }
  }

  /// Adjacent broadcasts are carried out together.
  func carryOut(_ actions: [TransportAction]) {
    var rest = actions[...]
    while let action = rest.first {
      let broadcasts = rest.prefix(while: \.isBroadcast)
      if broadcasts.isEmpty {
        carryOut(action)
        rest.removeFirst()
      } else {
        broadcast(broadcasts)
        rest.removeFirst(broadcasts.count)
      }
    }
  }

  private func carryOut(_ action: TransportAction) {
    switch action {
    case .send(let frame, let id): send(frame, to: id)
    case .broadcast: broadcast([action])
    case .join(let id, let group): join(id, group)
    case .leave(let id, let group): leave(id, group)
    case .close(let id, let code, let reason):
      if let connection = connections[id] { close(connection, code, reason: reason) }
    case .pauseReading(let id): connections[id]?.pauseReading()
    case .resumeReading(let id): connections[id]?.resumeReading()
    case .respond(let response, let request):
      requests.removeValue(forKey: request)?.answer(response)
    case .setDeadline(let delay):
      if let delay {
        serverTimer?.set(afterMicroseconds: delay, from: handledAt)
      } else {
        serverTimer?.cancel()
      }
    case .stop: startStopping()
    }
  }

  private func handleSignalRequests() {
    guard let requests = signals?.requests.drain() else { return }
    if requests.contains(.reload) {
      if reloadCertificate() { certificateReloaded?() }
      emit(.reloadRequested)
    }
    if requests.contains(.stop) { emit(.stopRequested) }
  }

  private func startStopping() {
    guard !isStopping else { return }
    isStopping = true
    for listener in listeners { listener.close() }
    for connection in connections.all {
      close(connection, .goingAway, reason: "the server is stopping")
    }
    for exchange in Array(exchanges.values) { exchange.stop() }
    drainTimer?.set(afterMicroseconds: options.drainMicroseconds)
  }

  /// Drops the remaining connections and reports their end. Worker loops, whose drain ends at the same time, get a
  /// moment more.
  private func endDrain() {
    guard !isDrainOver else { return finish() }
    isDrainOver = true
    for connection in connections.all { drop(connection) }
    for exchange in Array(exchanges.values) { exchange.timeOut() }
    for relay in Array(relays.values) { relay.close() }
    drainTimer?.set(afterMicroseconds: Self.otherLoopsMicroseconds)
  }

  private func finishIfDrained() {
    guard isStopping, connections.count == 0, exchanges.isEmpty, relays.isEmpty else { return }
    if waitsForWorkers?() != true { finish() }
  }

  /// Makes `run` return after this iteration.
  func finish() {
    isOver = true
    eventLoop.stop()
  }
}
