import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The middle of the server: event in, actions out, time as an argument.
///
/// It owns every timer, session and deadline, and touches neither socket nor file nor clock.
struct Hub {
  let options: HubOptions
  var board: Board
  var httpBudgets: AddressBudgets
  var sessions: [ConnectionID: Session] = [:]
  /// Connections that are not read for now.
  var heldBack: Set<ConnectionID> = []
  var channels = Channels()
  var deadlines = DeadlineQueue<Deadline>()
  var ledger = RequestLedger()
  var lateEnds: LateEnds
  var counters = Counters()
  /// The transport's figures, as of the last HTTP request.
  var transport = TransportCounters()
  var running: Set<TimerID> = []
  /// Timers that run since before this start, and that nobody has changed.
  var untouched: Set<TimerID> = []
  var stopping = Stopping.no
  var quarantine: Quarantine
  /// Why changes are not stored, in words for anybody; nil: they are.
  var storageTrouble: String?
  var storageLog = StorageLog()
  /// Names what has happened to the data; another name when answered changes may be missing.
  var history: String
  /// The write of the timers of a folder that was put in place of the one before.
  var takingUp: UInt64?
  /// nil until there is a file of tokens.
  var tokens: TokenBook?
  private var armed: Instant?

  /// What can be due.
  enum Deadline: Hashable {
    case zero(TimerID)
    case tick(GroupID)
    /// The next token ends.
    case tokenEnd
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
    httpBudgets = AddressBudgets(options.httpRequests)
    board = Board(clock: clock, server: contents.server)
    lateEnds = LateEnds(startedAt: now)
    quarantine = Quarantine(contents.faults)
    history = contents.history
    ledger.restore(contents, on: clock.reading(at: now))
    for record in contents.timers {
      let shift = record.clock.shift(to: clock.reading(at: now))
      board.restore(record, shifted: record.timer.shifted(by: shift))
    }
    for record in contents.timers {
      restore(record.timer.id, at: now, &actions)
    }
    untouched = running
    tokens = options.tokens
    deadlines.set(.tokenEnd, tokens?.nextEnd(after: now))
  }

  mutating func handle(_ event: HubEvent, at now: Instant, _ actions: inout HubActions) {
    // What was due before the event came is done before it, so that all is told in its order.
    advance(to: now, &actions)
    switch event {
    case .transport(let event): handle(event, at: now, &actions)
    case .disk(.stored(let reports)):
      for report in reports {
        settle(report, at: now, &actions)
        finishTakingUp(report.ticket, &actions)
      }
      readOn(&actions)
    case .disk(.external(let changes)):
      for change in changes { adopt(change, at: now, &actions) }
    case .disk(.filesBehind(let errors)): note(errors, &actions)
    case .disk(.writable(let trouble)): note(trouble, at: now, &actions)
    case .disk(.restored(let contents)): takeUp(contents, at: now, &actions)
    case .tokens(let tokens): adopt(tokens, at: now, &actions)
    }
    advance(to: now, &actions)
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
    case .woken: break
    }
  }

  // MARK: Deadlines

  private mutating func advance(to now: Instant, _ actions: inout HubActions) {
    while let due = deadlines.takeDue(at: now) {
      switch due.key {
      case .zero(let id): crossZero(id, at: now, &actions)
      case .tick(let group): tick(group, due: due.instant, at: now, &actions)
      case .tokenEnd: followTokens(at: now, &actions)
      case .stop: finishStopping(&actions)
      }
    }
  }

  private mutating func rearm(at now: Instant, _ actions: inout HubActions) {
    guard deadlines.first != armed else { return }
    armed = deadlines.first
    let wait = armed.map { max(0, ($0 - now).microseconds) }
    actions.transport.append(.wake(afterMicroseconds: wait))
  }

  // MARK: Restart and stop

  private mutating func restore(_ id: TimerID, at now: Instant, _ actions: inout HubActions) {
    follow(id, at: now)
    for end in board.untoldEnds(id) { lateEnds.note(id, endedAt: end) }
    while let crossing = board.crossing(of: id, at: now, late: true) {
      adopt([crossing], at: now, &actions)
    }
  }

  private mutating func stop(at now: Instant, _ actions: inout HubActions) {
    guard case .no = stopping else { return }
    actions.log(.info, "stopping")
    let farewell = board.adoptFarewell(at: now)
    actions.writes.append(farewell)
    stopping = .storing(farewell.ticket)
    deadlines.set(.stop, now + options.storagePatience)
  }

  /// Whether it waits for nothing more than the disk.
  var isStopping: Bool {
    if case .no = stopping { false } else { true }
  }

  mutating func finishStopping(_ actions: inout HubActions) {
    guard case .storing = stopping else { return }
    stopping = .drained
    deadlines.remove(.stop)
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
  var tokens: TokenBook?
  public var timersMax = 10_000
  public var subscriptionsMax = 1_000
  /// Requests a second on one connection.
  var requests = RequestBudget.Limits()
  /// Requests a second by HTTP of one address.
  var httpRequests = RequestBudget.Limits()
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
  var storagePatience: Seconds = 2
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
  var dismissals: [Dismissal: Int] = [:]
  var timesHeldBack = 0
}

/// Crossings of zero that happened while the server was down; whoever comes soon after the start is told.
struct LateEnds {
  let startedAt: Instant
  private var ends: [TimerID: [Instant]] = [:]

  /// How long after the start newcomers are told.
  static let told: Seconds = 60

  init(startedAt: Instant) {
    self.startedAt = startedAt
  }

  mutating func note(_ id: TimerID, endedAt: Instant) {
    ends[id, default: []].append(endedAt)
  }

  /// A timer that is gone tells nothing.
  mutating func forget(_ id: TimerID) {
    ends[id] = nil
  }

  /// Each timer of these with its ends, sorted by name. What it costs grows with what is asked for: after a restart
  /// all clients ask at once, most of them for one timer each.
  func among(
    _ selection: TimerSelection, at now: Instant
  ) -> [(id: TimerID, ends: [Instant])] {
    guard !ends.isEmpty, isEarly(now) else { return [] }
    let ids =
      switch selection {
      case .all: Set(ends.keys)
      case .timers(let ids): Set(ids).filter { ends[$0] != nil }
      }
    return ids.sorted().map { (id: $0, ends: ends[$0] ?? []) }
  }

  /// Whether newcomers are told still.
  func isEarly(_ now: Instant) -> Bool {
    now < startedAt + Self.told
  }
}
