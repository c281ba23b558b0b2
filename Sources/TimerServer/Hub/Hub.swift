import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The middle of the server: event in, actions out, time as an argument.
///
/// It owns every timer, session and deadline, and touches neither socket nor file nor clock.
struct Hub {
  let options: HubOptions
  /// Names what the data went through, for clients that come back and say how far they had followed it.
  var history: String
  var timerTable: TimerTable
  var httpBudgets: AddressBudgets
  /// What all connections of one payer may ask for together.
  var payers: BudgetTable<Payer>
  /// Handshakes and wrong tokens of each address.
  var handshakeBudgets: AddressBudgets
  /// Costly work that waits.
  var workQueue: FairWorkQueue<Job>
  var tickCache = TickCache()
  var qrCodeCache = QRCodeCache()
  var sessions: [ConnectionID: Session] = [:]
  /// Connections that are not read for now.
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
  var running: Set<TimerID> = []
  /// Timers that run since before this start, and that nobody has changed.
  var unchangedSinceStart: Set<TimerID> = []
  var stopping = Stopping.no
  var quarantine: Quarantine
  var healthPage = HealthPage()
  /// Why changes are not stored, in words that anybody may read; nil: they are.
  var storageTrouble: String?
  var storageLog = TroubleLog<StorageTrouble>()
  /// Files that are behind the log.
  var filesLog = TroubleLog<[DiskError]>()
  var publication = StatusPublication()
  /// The write of the timers of a folder that was put in place of the one before.
  var replacementTicket: UInt64?
  /// nil until there is a file of tokens.
  var tokens: TokenTable?
  private var armed: Instant?

  /// What can be due.
  enum Deadline: Hashable {
    case tick(GroupID)
    /// Costly work may go on.
    case queuedWork
    /// The next token ends.
    case tokenEnd
    /// The server looks at the wall clock.
    case wallClock
    /// What the clocks say is written once more, after the disk refused it.
    case clockRecord
    /// The status has changed again, soon after it was sent.
    case status
    /// The disk had its time; the server stops all the same.
    case stop
  }

  enum Stopping {
    case no
    /// Waits for the disk, up to this ticket.
    case storing(UInt64)
    case drained
  }

  /// Takes up what was found on the disk; `now` is the start of the server. What is due is waited for from
  /// the first event on.
  init(
    _ options: HubOptions, clock: ClockAnchor, contents: TimerFolder.Contents, at now: Instant,
    _ actions: inout HubActions
  ) {
    self.options = options
    history = contents.history.isEmpty ? options.epoch : contents.history
    httpBudgets = AddressBudgets(options.httpRequests)
    payers = BudgetTable(options.sharedRequests)
    handshakeBudgets = AddressBudgets(options.handshakes)
    workQueue = FairWorkQueue(at: now)
    timerTable = TimerTable(clock: clock, server: contents.server)
    timerTable.restoreClocks(contents, at: now)
    // From here on everything is on the clock of this process.
    let contents = contents.moved(to: clock.reading(at: now))
    lateEnds = LateEnds(startedAt: now)
    quarantine = Quarantine(contents)
    idempotencyCache.restore(contents, on: clock.reading(at: now))
    timerTable.restore(contents.timers)
    for record in contents.timers {
      restore(record.timer.id, at: now, &actions)
    }
    unchangedSinceStart = running
    tokens = options.tokens
    scheduleTokenEnd(at: now)
    storeClockIfDue(at: now, &actions)
    deadlines.set(.wallClock, now + Self.wallClockPause)
  }

  mutating func handle(_ event: HubEvent, at now: Instant, _ actions: inout HubActions) {
    // What was due before the event came is done before it, so that all is told in its order.
    advance(to: now, &actions)
    switch event {
    case .transport(let event): handle(event, at: now, &actions)
    case .disk(.stored(let reports)):
      for report in reports {
        complete(report, at: now, &actions)
        finishReplacement(report.ticket, &actions)
      }
      resumeReading(&actions)
    case .disk(.external(let changes)):
      for change in changes { applyExternalChange(change, at: now, &actions) }
    case .disk(.filesBehind(let errors)): updateFileErrors(errors, at: now, &actions)
    case .disk(.writable(let trouble)): updateStorage(trouble, at: now, &actions)
    case .disk(.restored(let contents)): replaceData(with: contents, at: now, &actions)
    case .tokens(let tokens): replaceTokens(tokens, at: now, &actions)
    case .wallOffset(let offset): updateWallOffset(to: offset, at: now, &actions)
    }
    advance(to: now, &actions)
    publishStatus(at: now, &actions)
    rearm(at: now, &actions)
  }

  private mutating func handle(
    _ event: TransportEvent, at now: Instant, _ actions: inout HubActions
  ) {
    switch event {
    case .opened(let connection, let handshake): open(connection, handshake, at: now, &actions)
    case .received(let connection, let text): receive(text, from: connection, at: now, &actions)
    case .receivedBinary: preconditionFailure("the server takes text alone")
    case .closed(let connection): close(connection)
    case .requested(let id, let request): answer(request, id, at: now, &actions)
    case .stopRequested: stop(at: now, &actions)
    case .deadline: armed = nil
    case .woken, .reloadRequested: break
    }
  }

  // MARK: Deadlines

  private mutating func advance(to now: Instant, _ actions: inout HubActions) {
    var crossingsLeft = Self.crossingsAtOnce
    while true {
      let zero = crossingsLeft > 0 ? nextZero : nil
      if let zero, zero <= now, zero <= deadlines.first ?? zero, let due = zeros.popDue(at: now) {
        crossingsLeft -= 1
        crossZero(due.key, at: now, &actions)
      } else if let due = deadlines.popDue(at: now) {
        perform(due.key, due: due.instant, at: now, &actions)
      } else {
        return
      }
    }
  }

  private mutating func perform(
    _ deadline: Deadline, due: Instant, at now: Instant, _ actions: inout HubActions
  ) {
    switch deadline {
    case .tick(let group): tick(group, due: due, at: now, &actions)
    case .queuedWork: runQueuedWork(at: now, &actions)
    case .tokenEnd: enforceTokens(at: now, &actions)
    // The server has looked before it handed this over.
    case .wallClock:
      deadlines.set(.wallClock, now + Self.wallClockPause)
      logStorageIfDue(at: now, &actions)
    case .clockRecord: storeClockIfDue(at: now, &actions)
    // The end of each event publishes what has changed.
    case .status: break
    case .stop: finishStopping(at: now, &actions)
    }
  }

  /// So many crossings of zero are decided in one turn; what else is due by then, and whoever has sent something, has
  /// its turn before the rest.
  private static let crossingsAtOnce = 64
  /// So many of them wait for the disk at the most: those of whoever asks for a change are never behind more.
  private static let crossingsUnderWayMax = 512

  /// The next zero that can be decided: none while the disk has enough of them, and none any more by a server that
  /// stops, since nobody would be sent it. The next server finds it late.
  private var nextZero: Instant? {
    isStopping || timerTable.internalPendingCount >= Self.crossingsUnderWayMax ? nil : zeros.first
  }

  /// When something is due next.
  var nextDeadline: Instant? {
    [deadlines.first, nextZero].compactMap(\.self).min()
  }

  private mutating func rearm(at now: Instant, _ actions: inout HubActions) {
    guard nextDeadline != armed else { return }
    armed = nextDeadline
    let wait = armed.map { max(0, ($0 - now).microseconds) }
    actions.transport.append(.setDeadline(afterMicroseconds: wait))
  }

  // MARK: Restart and stop

  private mutating func restore(_ id: TimerID, at now: Instant, _ actions: inout HubActions) {
    reschedule(id, at: now)
    for end in timerTable.undeliveredEnds(id) { lateEnds.add(id, endedAt: end) }
    if let crossing = timerTable.crossing(of: id, at: now, late: true, isDelivered: false) {
      apply([crossing], at: now, &actions)
    }
  }

  private mutating func stop(at now: Instant, _ actions: inout HubActions) {
    guard case .no = stopping else { return }
    actions.log(.info, "stopping")
    let shutdownWrite = timerTable.makeShutdownWrite(at: now)
    actions.writes.append(shutdownWrite)
    stopping = .storing(shutdownWrite.ticket)
    deadlines.set(.stop, now + options.shutdownFlushTimeout)
  }

  /// Whether it waits for nothing more than the disk.
  var isStopping: Bool {
    if case .no = stopping { false } else { true }
  }

  mutating func finishStopping(at now: Instant, _ actions: inout HubActions) {
    guard case .storing = stopping else { return }
    stopping = .drained
    actions.writes += timerTable.markUndelivered(at: now)
    deadlines.remove(.stop)
    deadlines.remove(.wallClock)
    refuseQueuedWork(&actions)
    actions.transport.append(.stop)
  }
}

/// How a hub is set up.
public struct HubOptions: Sendable {
  /// Names the program in `hello`, as in `timersync/1.0.0`.
  public var serverName = "timersync/\(Version.text)"
  /// New at each start.
  public var epoch: String
  /// What a visitor without a token may do; nil: everything until there are tokens, nothing from then on.
  public var anonymousRole: Role?
  /// nil when there is no file of tokens.
  var tokens: TokenTable?
  public var timersMax = 10_000
  public var subscriptionsMax = 1_000
  /// Requests a second on one connection.
  var requests = RequestBudget.Limits()
  /// Requests a second by HTTP of one address.
  var httpRequests = RequestBudget.Limits()
  /// Requests a second of one token, or of all visitors of one address, over all connections.
  var sharedRequests: RequestBudget.Limits { requests.times(10) }
  /// What one address may cost by handshakes and wrong tokens: thousands of screens that come back at once are let in.
  var handshakes: RequestBudget.Limits {
    RequestBudget.Limits(perSecond: max(10_000, sharedRequests.perSecond))
  }
  /// Ticks of single timers a second on channels that one token, or the visitors of one address, have opened.
  var ticksMax = 20_000
  /// Replies that one connection may wait for; with so many it is not read until half of them are out.
  public var repliesMax = 64
  /// Changes that may wait for the disk in all; with so many, who asks for one more is not read until half
  /// of them are durable.
  public var pendingMax = 4_096
  public var titleBytesMax = TimerLimits.titleBytesMax
  public var warningsMax = TimerLimits.warningsMax
  /// Whether a GET may change a timer, for button boxes that can only open a URL.
  public var allowsGet = false
  /// How long a server that stops waits for its disk.
  var shutdownFlushTimeout: Seconds = 2
  /// Who may speak to the server by HTTP.
  public var access = AccessRules()

  public init(epoch: String) {
    self.epoch = epoch
  }
}

/// What is counted for the metrics.
struct Counters: Equatable {
  var messagesReceived = 0
  var changesMade = 0
  var refusals: [ErrorCode: Int] = [:]
  var broadcasts = 0
  var connectionsOpened = 0
  var wrongTokens = 0
  var closedConnections: [CloseReason: Int] = [:]
  var readingPauses = 0
  var clockSteps = 0
}

/// Crossings of zero that happened while the server was down; whoever comes soon after the start is told.
struct LateEnds {
  let startedAt: Instant
  private var ends: [TimerID: [Instant]] = [:]

  /// How long after the start newcomers are told.
  static let replayWindow: Seconds = 60

  init(startedAt: Instant) {
    self.startedAt = startedAt
  }

  mutating func add(_ id: TimerID, endedAt: Instant) {
    let known = ends[id] ?? []
    guard !known.contains(endedAt) else { return }
    ends[id] = (known + [endedAt]).suffix(TimerEnd.kept)
  }

  /// A timer that is gone tells nothing.
  mutating func remove(_ id: TimerID) {
    ends[id] = nil
  }

  /// Each timer of these with its ends, sorted by name. What it costs grows with what is asked for: after a restart
  /// all clients ask at once, most of them for one timer each.
  func among(
    _ selection: TimerSelection, at now: Instant
  ) -> [(id: TimerID, ends: [Instant])] {
    guard !ends.isEmpty, isWithinReplayWindow(now) else { return [] }
    let ids =
      switch selection {
      case .all: Set(ends.keys)
      case .timers(let ids): Set(ids).filter { ends[$0] != nil }
      }
    return ids.sorted().map { (id: $0, ends: ends[$0] ?? []) }
  }

  /// Whether newcomers are told still.
  func isWithinReplayWindow(_ now: Instant) -> Bool {
    now < startedAt + Self.replayWindow
  }
}
