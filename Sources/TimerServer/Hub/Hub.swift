import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The server's state machine: event in, actions out, time as an argument.
///
/// It owns every timer, session and deadline, and touches neither socket nor file nor clock.
struct Hub {
  let options: HubOptions
  /// Identifies the data folder. A client that reconnects sends it with its last revision, because revisions are valid
  /// within one history.
  var history: String
  var timerTable: TimerTable
  var httpBudgets: AddressBudgets
  /// The budget that all connections of one payer share.
  var payers: BudgetTable<Payer>
  /// Handshakes and wrong tokens of each address.
  var handshakeBudgets: AddressBudgets
  /// Costly work that waits.
  var workQueue: FairWorkQueue<Job>
  var ticks = TickSchedule()
  var qrCodeCache = QRCodeCache()
  var sessions: [ConnectionID: Session] = [:]
  /// Connections whose reading is paused.
  var pausedConnections: Set<ConnectionID> = []
  var channels = Channels()
  var deadlines = DeadlineQueue<Deadline>()
  /// When countdowns come to zero. Apart from the other deadlines, so that thousands that are due at once keep no
  /// tick waiting.
  var zeros = DeadlineQueue<TimerID>()
  var idempotencyCache = IdempotencyCache()
  var lateEnds: LateEnds
  var counters = Counters()
  /// The transport's figures, as of the last HTTP request.
  var transport = TransportCounters()
  /// Timers that have been running since before this start, without a change.
  var unchangedSinceStart: Set<TimerID> = []
  var stopping = Stopping.no
  var quarantine: Quarantine
  /// The reason why changes are not stored, safe to show to anyone; nil: they are.
  var storageTrouble: String?
  var storageLog = TroubleLog<StorageTrouble>()
  /// Files that are behind the log.
  var filesLog = TroubleLog<[StorageTrouble]>()
  var publication = StatusPublication()
  /// The write of the timers of a folder that was put in place of the one before.
  var replacementTicket: UInt64?
  /// nil until there is a file of tokens.
  var tokens: TokenTable?
  private var armed: Instant?

  /// Everything that can be due, beside ticks and zeros.
  enum Deadline: Hashable {
    /// The next piece of costly work may begin.
    case queuedWork
    /// The next token ends.
    case tokenEnd
    /// The server looks at the wall clock.
    case wallClock
    /// The clocks' readings have to be stored again, after the disk refused them.
    case clockRecord
    /// The status has changed again, soon after it was sent.
    case status
    /// The time that a stopping server gives its disk is over; it stops all the same.
    case stop
  }

  enum Stopping {
    case no
    /// Waits for the disk, up to this ticket.
    case storing(UInt64)
    case drained
  }

  /// Restores what was found on the disk; the turn is the start of the server. Deadlines are armed by the first event.
  init(
    _ options: HubOptions, clock: ClockAnchor, contents: StoreContents, _ turn: inout Turn
  ) {
    self.options = options
    history = contents.history.isEmpty ? options.epoch : contents.history
    httpBudgets = AddressBudgets(options.httpRequests)
    payers = BudgetTable(options.sharedRequests)
    handshakeBudgets = AddressBudgets(options.handshakes)
    workQueue = FairWorkQueue(at: turn.now)
    timerTable = TimerTable(clock: clock, server: contents.server, epoch: options.epoch)
    timerTable.restoreClocks(contents, at: turn.now)
    // From here on everything is on the clock of this process.
    let contents = contents.moved(to: clock.reading(at: turn.now))
    lateEnds = LateEnds(startedAt: turn.now)
    quarantine = Quarantine(contents)
    idempotencyCache.restore(contents, on: clock.reading(at: turn.now))
    timerTable.restore(contents.timers, stamps: contents.stamps)
    for record in contents.timers {
      restore(record.timer.id, &turn)
    }
    unchangedSinceStart = ticks.running
    tokens = options.tokens
    scheduleTokenEnd(at: turn.now)
    storeClockIfDue(&turn)
    deadlines.set(.wallClock, turn.now + Self.wallClockPause)
  }

  mutating func handle(_ event: HubEvent, _ turn: inout Turn) {
    // Deadlines before the event are handled before it, so that everything is sent in order.
    advance(&turn)
    switch event {
    case .transport(let event): handle(event, &turn)
    case .wake: armed = nil
    case .store(let event): handle(event, &turn)
    case .tokens(let tokens): replaceTokens(tokens, &turn)
    case .wallOffset(let offset): updateWallOffset(to: offset, &turn)
    }
    advance(&turn)
    publishStatus(&turn)
    rearm(&turn)
  }

  private mutating func handle(_ event: StoreEvent, _ turn: inout Turn) {
    switch event {
    case .reported(let reports):
      for report in reports {
        complete(report, &turn)
        finishReplacement(report.ticket, &turn)
        if case .storing(let last) = stopping, report.ticket >= last { finishStopping(&turn) }
      }
      resumeReading(&turn)
    case .changed(let changes): for change in changes { publish(change, &turn) }
    case .external(let changes): for change in changes { applyExternalChange(change, &turn) }
    case .behind(let troubles): updateFileErrors(troubles, &turn)
    case .writable(let trouble): updateStorage(trouble, &turn)
    case .restored(let contents): replaceData(with: contents, &turn)
    }
  }

  private mutating func handle(_ event: TransportEvent, _ turn: inout Turn) {
    switch event {
    case .opened(let connection, let handshake): open(connection, handshake, &turn)
    case .received(let connection, let text): receive(text, from: connection, &turn)
    case .receivedBinary: preconditionFailure("the server takes text alone")
    case .closed(let connection): close(connection)
    case .requested(let id, let request): answer(request, id, &turn)
    case .stopRequested: stop(&turn)
    case .deadline, .woken, .reloadRequested:
      preconditionFailure("the server has events of its own for these")
    }
  }

  // MARK: Deadlines

  private mutating func advance(_ turn: inout Turn) {
    var crossingsLeft = Self.crossingsAtOnce
    while true {
      let zero = crossingsLeft > 0 ? nextZero : nil
      let tick = ticks.next
      if let zero, zero <= turn.now, zero <= tick ?? zero, zero <= deadlines.first ?? zero,
        let due = zeros.popDue(at: turn.now)
      {
        crossingsLeft -= 1
        crossZero(due.key, &turn)
      } else if let tick, tick <= deadlines.first ?? tick,
        let (group, due) = ticks.popDue(at: turn.now)
      {
        broadcastTick(to: group, due: due, &turn)
      } else if let due = deadlines.popDue(at: turn.now) {
        perform(due.key, &turn)
      } else {
        return
      }
    }
  }

  private mutating func perform(_ deadline: Deadline, _ turn: inout Turn) {
    switch deadline {
    case .queuedWork: runQueuedWork(&turn)
    case .tokenEnd: enforceTokens(&turn)
    // The server has looked before it handed this over.
    case .wallClock:
      deadlines.set(.wallClock, turn.now + Self.wallClockPause)
      logStorageIfDue(&turn)
    case .clockRecord: storeClockIfDue(&turn)
    // The end of each event publishes what has changed.
    case .status: break
    case .stop: finishStopping(&turn)
    }
  }

  /// The number of crossings of zero that are decided in one go; other deadlines and requests come before the rest.
  private static let crossingsAtOnce = 64
  /// The number of crossings that may wait for the disk; requested changes never wait behind more.
  private static let crossingsUnderWayMax = 512

  /// The next zero that can be decided: none while too many wait for the disk, and none while the server stops, since
  /// no client would receive it. The next server sends it late.
  private var nextZero: Instant? {
    isStopping || timerTable.internalPendingCount >= Self.crossingsUnderWayMax ? nil : zeros.first
  }

  /// When something is due next.
  var nextDeadline: Instant? {
    [deadlines.first, ticks.next, nextZero].compactMap(\.self).min()
  }

  private mutating func rearm(_ turn: inout Turn) {
    guard nextDeadline != armed else { return }
    armed = nextDeadline
    let wait = armed.map { max(0, ($0 - turn.now).microseconds) }
    turn.actions.transport.append(.setDeadline(afterMicroseconds: wait))
  }

  // MARK: Restart and stop

  private mutating func restore(_ id: TimerID, _ turn: inout Turn) {
    reschedule(id, at: turn.now)
    for end in timerTable.undeliveredEnds(id) { lateEnds.add(id, endedAt: end) }
    if let crossing = timerTable.crossing(of: id, at: turn.now, late: true, isDelivered: false) {
      apply([crossing], &turn)
    }
  }

  private mutating func stop(_ turn: inout Turn) {
    guard case .no = stopping else { return }
    turn.actions.log(.info, "stopping")
    let shutdownWrite = timerTable.makeShutdownWrite(at: turn.now)
    turn.actions.changes.append(shutdownWrite)
    stopping = .storing(shutdownWrite.ticket)
    deadlines.set(.stop, turn.now + options.shutdownFlushTimeout)
  }

  /// True once the server is stopping.
  var isStopping: Bool {
    if case .no = stopping { false } else { true }
  }

  mutating func finishStopping(_ turn: inout Turn) {
    guard case .storing = stopping else { return }
    stopping = .drained
    turn.actions.changes += timerTable.markUndelivered(at: turn.now)
    deadlines.remove(.stop)
    deadlines.remove(.wallClock)
    refuseQueuedWork(&turn)
    turn.actions.transport.append(.stop)
  }
}
