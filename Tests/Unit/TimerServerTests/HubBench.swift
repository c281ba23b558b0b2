import Foundation
import Testing
import TimerCore
import TimerProtocol
import WebSocketTransport

@testable import TimerServer
@testable import TimerStorage

/// A hub under test: events go in at an instant that the test moves, and each message is kept for the connection that
/// it was sent to. The disk is a dictionary that takes writes when the test says so.
struct HubBench {
  private(set) var hub: Hub
  private(set) var now: Instant
  private(set) var isStopped = false
  /// The instant at which the hub asked to be woken.
  private(set) var wakeAt: Instant?
  /// The lines about errors in the log.
  private(set) var errorsLogged: [String] = []
  /// Every line of the log.
  private(set) var logged: [String] = []
  /// The refusals that the log gets.
  private(set) var refusals: [RefusalReason] = []
  /// The codes with which the hub closed connections.
  private(set) var closeCodes: [ConnectionID: CloseCode] = [:]
  /// Connections that are not to be read.
  private(set) var pausedConnections: Set<ConnectionID> = []
  private(set) var responses: [HTTPRequestID: HTTPResponse] = [:]
  /// Writes that the disk has not reported yet.
  private(set) var pendingWrites: [StoredChange] = []
  /// The stored timers.
  private var stored: MemoryTimers

  /// Each revision that was ever on the disk.
  private(set) var durableRevisions: Set<Int> = []

  private let clock: ClockAnchor
  private var frames: [ConnectionID: [Message]] = [:]
  private var members: [GroupID: Set<ConnectionID>] = [:]
  private var lastNumber: UInt64 = 0

  static let start: Instant = 1_764_480_000.25
  /// The history of the bench's disk.
  static let history = "history-1"
  static let diskFull = DiskError("write", "/data/.timersync/log", code: ENOSPC)

  private init(
    _ options: HubOptions, _ clock: ClockAnchor, _ stored: MemoryTimers,
    _ requests: [IdempotencyEntry] = []
  ) {
    self.clock = clock
    self.stored = stored
    now = clock.start.server
    var contents = self.stored.contents(for: options.epoch)
    contents.history = Self.history
    contents.requests = requests
    var turn = Turn(now: now)
    hub = Hub(options, clock: clock, contents: contents, &turn)
    carryOut(turn.actions)
  }

  var records: [TimerID: TimerRecord] { stored.records }
  var server: ServerRecord { stored.server }

  static func make(
    timersMax: Int = 100, subscriptionsMax: Int = 100, role: Role = .control
  ) -> HubBench {
    make {
      $0.timersMax = timersMax
      $0.subscriptionsMax = subscriptionsMax
      $0.anonymousRole = role
    }
  }

  static func make(_ setUp: (inout HubOptions) -> Void) -> HubBench {
    var options = HubOptions(epoch: "epoch-1")
    setUp(&options)
    let reading = ClockReading(
      server: Self.start, boot: 5_000, bootID: "boot-1", wall: WallTime(at: start, offset: .zero))
    return HubBench(options, ClockAnchor(start: reading), MemoryTimers())
  }

  /// Starts another server a while later with the records on the disk; pending changes are lost.
  func restarted(
    after wait: Seconds = 3, wallClockSteppedBy step: Seconds = 0, onAnotherBoot: Bool = false
  ) -> HubBench {
    let before = clock.reading(at: now)
    let wall = WallTime(at: now + wait + step, offset: hub.wallOffset)
    let reading = ClockReading(
      server: wall.instant(offset: .zero), boot: onAnotherBoot ? 20 : before.boot + wait,
      bootID: onAnotherBoot ? before.bootID + "+1" : before.bootID, wall: wall)
    var options = hub.options
    options.epoch = "epoch-2"
    // The next server reads the records from the disk, on its own clock.
    var kept = stored.requests
    var read = IdempotencyFile()
    do {
      try read.restore(
        kept.contents(on: hub.timerTable.clock.reading(at: now)), on: reading, by: server.lastClocks
      )
    } catch {
      Issue.record("what the register wrote can't be read: \(error)")
    }
    var stored = MemoryTimers()
    (stored.records, stored.server, stored.requests) = (records, server, read)
    return HubBench(options, ClockAnchor(start: reading), stored, read.requests)
  }
}

// MARK: - Events

extension HubBench {
  mutating func handle(_ event: HubEvent) {
    var turn = Turn(now: now)
    hub.handle(event, &turn)
    carryOut(turn.actions)
  }

  /// A new connection, whose first messages can still be taken.
  mutating func connect(_ query: [QueryItem] = []) -> ConnectionID {
    connect(Handshake(query: query))
  }

  mutating func connect(_ handshake: Handshake) -> ConnectionID {
    lastNumber += 1
    let connection = ConnectionID(lastNumber)
    handle(.transport(.opened(connection, handshake)))
    return connection
  }

  /// A new connection that is sent all changes of one timer, or of all, from here on.
  mutating func subscriber(to timer: String = "tea", every interval: String = "0") -> ConnectionID {
    let connection = connect([QueryItem("timer", timer), QueryItem("interval", interval)])
    _ = heard(by: connection)
    return connection
  }

  mutating func disconnect(_ connection: ConnectionID) {
    for group in members.keys { members[group]?.remove(connection) }
    handle(.transport(.closed(connection)))
  }

  /// Somebody sets the wall clock, and the server has noticed it.
  mutating func setWallClock(ahead offset: Seconds) {
    handle(.wallOffset(offset))
  }

  /// From here on the data folder can't be written to, or can be again.
  mutating func trouble(_ reason: String?) {
    hub.storageTrouble = reason
    handle(.wake)
  }

  /// A signal asks the server to stop.
  mutating func stop() {
    handle(.transport(.stopRequested))
  }

  mutating func send(_ json: String, from connection: ConnectionID) {
    handle(.transport(.received(connection, Array(json.utf8))))
  }

  /// Sends a message from a connection of its own, stores the changes that follow, and returns the reply.
  @discardableResult
  mutating func ask(_ json: String) -> Message {
    let connection = connect()
    send(json, from: connection)
    store()
    let reply = messages(to: connection).last { $0.isReply }
    disconnect(connection)
    if reply == nil { Issue.record("no reply to \(json)") }
    return reply ?? .none
  }

  mutating func request(
    _ method: String, _ path: String, query: [QueryItem] = [], headers: [String: String] = [:],
    body: String = "", from address: String = "127.0.0.1"
  ) -> HTTPRequestID {
    lastNumber += 1
    let id = HTTPRequestID(lastNumber)
    let segments = path.split(separator: "/").map(String.init)
    let request = HTTPRequest(
      method: method, path: segments, query: query, headers: headers, body: Array(body.utf8),
      peerAddress: address)
    handle(.transport(.requested(id, request)))
    return id
  }

  /// Sends an HTTP request, stores all changes, and returns the response.
  mutating func http(
    _ method: String, _ path: String, query: [QueryItem] = [], headers: [String: String] = [:],
    body: String = "", from address: String = "127.0.0.1"
  ) -> HTTPResponse {
    let id = request(method, path, query: query, headers: headers, body: body, from: address)
    store()
    if responses[id] == nil { Issue.record("no answer to \(method) \(path)") }
    return responses[id] ?? HTTPResponse(status: 0, body: Array("{}".utf8))
  }
}

// MARK: - The disk

extension HubBench {
  /// Everything that is pending becomes durable, and what follows from that too.
  mutating func store() {
    while !pendingWrites.isEmpty { store(first: pendingWrites.count) }
  }

  /// The first of the pending writes become durable, except those that are based on a failed one.
  mutating func store(first count: Int) {
    report(count, failing: false)
  }

  /// The disk refuses everything that is pending.
  mutating func failStore() {
    failStore(first: pendingWrites.count)
  }

  /// The disk refuses the first of the pending writes.
  mutating func failStore(first count: Int) {
    report(count, failing: true)
  }

  /// Makes the files those of an older server, which did not keep the wall clock.
  mutating func forgetWallClocks() {
    stored.records = records.mapValues { record in
      var record = record
      record.clock.wall = nil
      return record
    }
    stored.server.clock?.wall = nil
    stored.server.earlierClocks = nil
  }

  /// Somebody writes a timer's file.
  mutating func edit(_ record: TimerRecord) {
    handle(.store(.external([.edited(record)])))
  }

  /// Somebody removes a timer's file.
  mutating func removeFile(of id: TimerID) {
    handle(.store(.external([.removed(id)])))
  }

  /// Somebody writes a file that holds no timer.
  mutating func damage(_ fileName: String) {
    let fault = FileFault(fileName: FileName(fileName), fault: .malformed("the file is empty"))
    handle(.store(.external([.damaged(fault)])))
  }

  /// Makes the files those of an older server, which did not keep the requests of named changes.
  mutating func forgetFingerprints() {
    stored.records = records.mapValues { record in
      var record = record
      record.answered = record.answered.map {
        IdempotencyRecord(
          requestId: $0.requestId, revision: $0.revision, at: Instant(Seconds(clamping: $0.at)))
      }
      return record
    }
  }

  private mutating func report(_ count: Int, failing: Bool) {
    let changes = takeChanges(first: count)
    let exchange = stored.exchange(
      changes, with: hub.options.epoch, trouble: failing ? StorageTrouble(Self.diskFull) : nil)
    for (change, report) in zip(changes, exchange.reports) where report.outcome == .made {
      recordRevisions(of: change)
    }
    for event in exchange.events { handle(.store(event)) }
  }

  /// Takes the first of the pending changes, for a store outside of the bench.
  mutating func takeChanges(first count: Int = .max) -> [StoredChange] {
    let changes = Array(pendingWrites.prefix(count))
    pendingWrites.removeFirst(changes.count)
    return changes
  }

  private mutating func recordRevisions(of change: StoredChange) {
    for case let record? in change.timers.values {
      durableRevisions.formUnion([record.timer.revision] + record.ends.map(\.revision))
    }
  }
}

// MARK: - Time

extension HubBench {
  /// Time passes: the hub is woken at each instant that it asked for, and the disk is quick.
  mutating func advance(_ length: Seconds) {
    let end = now + length
    while let wake = wakeAt, wake <= end {
      now = max(now, wake)
      wakeAt = nil
      handle(.wake)
      store()
    }
    now = end
  }

  /// The instant of the next deadline, except that of the wall clock's check.
  var nextDue: Instant? {
    var deadlines = hub.deadlines
    deadlines.remove(.wallClock)
    return deadlines.first
  }

  /// Time passes while nothing is woken, as in a machine that sleeps; then the hub is woken once.
  mutating func jump(_ length: Seconds) {
    now = now + length
    wakeAt = nil
    handle(.wake)
  }

  /// Sets the time that the last event took to handle.
  mutating func work(_ length: Seconds) {
    now = now + length
    hub.endWork(at: now)
  }

  /// Time passes, and the hub is not woken.
  mutating func wait(_ length: Seconds) {
    now = now + length
  }
}

// MARK: - Output

extension HubBench {
  /// Takes the messages to a connection since the last call, in short: see `Message.description`.
  mutating func heard(by connection: ConnectionID) -> [String] {
    messages(to: connection).map(\.description)
  }

  /// Takes the messages to a connection since the last call.
  mutating func messages(to connection: ConnectionID) -> [Message] {
    frames.removeValue(forKey: connection) ?? []
  }

  private mutating func carryOut(_ actions: HubActions) {
    for action in actions.transport { carryOut(action) }
    pendingWrites += actions.changes
    logged += actions.log.map(\.text)
    refusals += actions.refusals
    errorsLogged += actions.log.filter { $0.level == .error }.map(\.text)
  }

  private mutating func carryOut(_ action: TransportAction) {
    switch action {
    case .send(let frame, let connection): deliver(frame, to: connection)
    case .broadcast(let frame, let group):
      for connection in members[group] ?? [] { deliver(frame, to: connection) }
    case .join(let connection, let group): members[group, default: []].insert(connection)
    case .leave(let connection, let group): members[group]?.remove(connection)
    case .pauseReading(let connection): pausedConnections.insert(connection)
    case .resumeReading(let connection): pausedConnections.remove(connection)
    case .respond(let response, let id): responses[id] = response
    case .setDeadline(let wait): wakeAt = wait.map { now + Seconds(microseconds: $0) }
    case .stop: isStopped = true
    case .close(let connection, let code, _):
      closeCodes[connection] = code
      for group in members.keys { members[group]?.remove(connection) }
    }
  }

  private mutating func deliver(_ frame: Frame, to connection: ConnectionID) {
    for text in [frame.text] + frame.additional {
      frames[connection, default: []].append(Message(text, frameKey: frame.replacementKey))
    }
  }
}
