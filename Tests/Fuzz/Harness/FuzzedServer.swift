import Foundation
import TimerCore
import WebSocketTransport

@testable import TimerProtocol
@testable import TimerServer
@testable import TimerStorage

/// The hub between a simulated transport and a simulated disk, driven by a script of acts.
///
/// Whatever the script is: nothing traps, every request is answered exactly once and in order, every message
/// is JSON, the figures of each state fit together, and revisions grow.
struct FuzzedServer {
  private var hub: Hub
  private var disk = FakeDisk()
  private var clock: ClockAnchor
  private var now: Instant
  private var wakeAt: Instant?
  private var isStopped = false
  private var peers: [ConnectionID: Peer] = [:]
  private var speakers: [ConnectionID?] = [nil, nil, nil, nil]
  private var speaker = 0
  private var groups: [GroupID: Set<ConnectionID>] = [:]
  private var pausedConnections: Set<ConnectionID> = []
  private var requests: [HTTPRequestID: Bool] = [:]
  private var lastNumber: UInt64 = 0

  /// A connection, as far as its replies are checked.
  private struct Peer {
    /// The replies that are due: the bytes with which each begins, and the values that it has to echo as spelled.
    var owed: [(start: [UInt8], echoes: [MessageCheck.Echo])] = []
    var wasGreeted = false
    /// Whether an error without a request may come, because the query was invalid.
    var mayBeRefused = true
    /// The last revision of each timer that this connection was shown.
    var shown: [String: Int] = [:]
  }

  /// Runs a whole script, then completes everything that is pending.
  static func play(_ script: some Collection<UInt8>) {
    var server = FuzzedServer()
    for line in Array(script).split(separator: UInt8(ascii: "\n")).prefix(200) {
      server.act(Act(line: line))
    }
    server.end()
  }

  private init() {
    now = 1_764_480_000.25
    clock = ClockAnchor(start: ClockReading(server: now, boot: 5_000, bootID: "boot"))
    var turn = Turn(now: now)
    hub = Hub(Self.options, clock: clock, contents: disk.contents, &turn)
    carryOut(turn.actions)
    handle(.wake)
  }

  private static var options: HubOptions {
    var options = HubOptions(epoch: "epoch")
    options.timersMax = 8
    options.subscriptionsMax = 8
    options.repliesMax = 4
    options.pendingMax = 12
    return options
  }

  // MARK: Acts

  private mutating func act(_ act: Act) {
    guard !isStopped else { return }
    switch act {
    case .message(let text): send(text)
    case .speaker(let number): speaker = number
    case .connect(let query): connect(query)
    case .wait(let milliseconds): wait(until: now + Self.length(milliseconds))
    case .sleep(let milliseconds):
      now = now + Self.length(milliseconds)
      wake()
    case .store(let count): store(count, refusing: false)
    case .failStore(let count): store(count, refusing: true)
    case .restart(let milliseconds): restart(after: Self.length(milliseconds))
    case .setWallClock(let milliseconds): handle(.wallOffset(Self.length(milliseconds)))
    case .request(let method, let path, let body): request(method, path, body)
    case .edit(let name, let contents): edit(name, contents)
    case .stop: handle(.transport(.stopRequested))
    }
  }

  private static func length(_ milliseconds: Int64) -> Seconds {
    Seconds(microseconds: milliseconds * 1_000)
  }

  private mutating func send(_ text: [UInt8]) {
    let connection = speakers[speaker] ?? connect([])
    // A raw id, where the message can be read at all, begins the reply.
    var tag = ReplyTag.none
    var echoes: [MessageCheck.Echo] = []
    do {
      let message = try ClientMessage(text)
      tag = message.tag
      if case .sync(let clientTime) = message.request {
        echoes.append(MessageCheck.Echo(name: "clientTime", token: clientTime.token))
      }
    } catch {
      tag = error.tag
    }
    let start = Array("{\"reply\":".utf8) + tag.token + Array(",\"ok\":".utf8)
    echoes.append(MessageCheck.Echo(name: "reply", token: tag.token))
    peers[connection]?.owed.append((start, echoes))
    handle(.transport(.received(connection, text)))
  }

  @discardableResult
  private mutating func connect(_ query: [UInt8]) -> ConnectionID {
    if let old = speakers[speaker] { leave(old) }
    lastNumber += 1
    let connection = ConnectionID(lastNumber)
    speakers[speaker] = connection
    peers[connection] = Peer()
    let text = String(decoding: query, as: UTF8.self)
    let items = text.split(separator: "&").map { pair in
      let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return QueryItem(String(words[0]), words.count > 1 ? String(words[1]) : "")
    }
    handle(.transport(.opened(connection, Handshake(query: items))))
    peers[connection]?.mayBeRefused = false
    return connection
  }

  private mutating func leave(_ connection: ConnectionID) {
    peers[connection] = nil
    pausedConnections.remove(connection)
    for group in groups.keys { groups[group]?.remove(connection) }
    for place in speakers.indices where speakers[place] == connection { speakers[place] = nil }
    handle(.transport(.closed(connection)))
  }

  /// Handles deadlines on the way at their instants; after many of them the rest is slept through.
  private mutating func wait(until end: Instant) {
    for _ in 0..<40 {
      guard let wakeAt, wakeAt <= end else { break }
      now = max(now, wakeAt)
      wake()
    }
    now = max(now, end)
    wake()
  }

  private mutating func wake() {
    guard let wakeAt, wakeAt <= now else { return }
    self.wakeAt = nil
    handle(.wake)
  }

  private mutating func store(_ count: Int, refusing: Bool) {
    handle(.store(.reported(disk.finish(count, refusing: refusing))))
  }

  private mutating func restart(after wait: Seconds) {
    disk.lose()
    let before = clock.reading(at: now)
    now = now + wait
    clock = ClockAnchor(
      start: ClockReading(server: now, boot: before.boot + wait, bootID: "boot"))
    wakeAt = nil
    peers = [:]
    groups = [:]
    requests = [:]
    pausedConnections = []
    speakers = [nil, nil, nil, nil]
    var turn = Turn(now: now)
    hub = Hub(Self.options, clock: clock, contents: disk.contents, &turn)
    carryOut(turn.actions)
    handle(.wake)
  }

  private mutating func request(_ method: [UInt8], _ path: [UInt8], _ body: [UInt8]) {
    lastNumber += 1
    let id = HTTPRequestID(lastNumber)
    requests[id] = false
    let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let request = HTTPRequest(
      method: String(decoding: method, as: UTF8.self),
      path: segments.map { String(decoding: $0, as: UTF8.self) }, body: body)
    handle(.transport(.requested(id, request)))
  }

  private mutating func edit(_ name: [UInt8], _ contents: [UInt8]) {
    guard let id = TimerID(String(decoding: name, as: UTF8.self)) else { return }
    if contents.isEmpty {
      handle(.store(.external([.removed(id)])))
      return
    }
    switch FakeDisk.record(contents, of: id) {
    case .success(let record): handle(.store(.external([.edited(record)])))
    case .failure(let fault):
      guard let fileName = FileName(key: id.name) else { fail("a timer without a file's name") }
      let damage = FileFault(fileName: fileName, fault: fault)
      handle(.store(.external([.damaged(damage)])))
    }
  }

  /// Finishes everything under way; then no request may be left without an answer.
  private mutating func end() {
    for _ in 0..<10 where !disk.pending.isEmpty { store(.max, refusing: false) }
    // A stopped server, with its disk or without, owes no more answers.
    guard !isStopped else { return }
    require(pausedConnections.isEmpty || !disk.pending.isEmpty, "held back with nothing on its way")
    for peer in peers.values {
      require(peer.owed.isEmpty, "\(peer.owed.count) requests were never answered")
    }
    require(requests.values.allSatisfy(\.self), "an HTTP request was never answered")
    for connection in Array(peers.keys) { leave(connection) }
    require(hub.sessions.isEmpty, "a session is left without a connection")
    require(hub.channels.commonTickChannels.isEmpty, "a channel is left that nobody hears")
  }

  // MARK: Events in, actions out

  private mutating func handle(_ event: HubEvent) {
    guard !isStopped else { return }
    var turn = Turn(now: now)
    hub.handle(event, &turn)
    carryOut(turn.actions)
    guard !isStopped else { return }
    require(
      wakeAt == hub.nextDeadline.map { max($0, now) },
      "what is due at \(String(describing: hub.nextDeadline)) is not waited for")
  }

  private mutating func carryOut(_ actions: HubActions) {
    disk.submit(actions.changes)
    var closing: [ConnectionID] = []
    for action in actions.transport {
      switch action {
      case .send(let frame, let connection): receive(frame.text, by: connection)
      case .broadcast(let frame, let group): broadcast(frame.text, to: group)
      case .join(let connection, let group):
        require(peers[connection] != nil, "a connection that is gone joins")
        let isNew = groups[group, default: []].insert(connection).inserted
        require(isNew, "joined twice")
      case .leave(let connection, let group):
        require(groups[group]?.remove(connection) != nil, "left without having joined")
      case .close(let connection, _, _): closing.append(connection)
      case .pauseReading(let connection):
        require(peers[connection] != nil, "a connection that is gone is held back")
        require(pausedConnections.insert(connection).inserted, "held back twice")
      case .resumeReading(let connection):
        require(
          pausedConnections.remove(connection) != nil, "read on without having been held back")
      case .respond(let response, let id): respond(response, to: id)
      case .setDeadline(let delay): wakeAt = delay.map { now + Seconds(microseconds: $0) }
      case .stop: isStopped = true
      }
    }
    for connection in closing where peers[connection] != nil { leave(connection) }
    for line in actions.log { require(!line.text.isEmpty, "an empty line in the log") }
  }

  // MARK: Received messages

  private mutating func receive(_ text: [UInt8], by connection: ConnectionID) {
    guard var peer = peers[connection] else { fail("a message to a connection that is gone") }
    defer { peers[connection] = peer }
    guard text.starts(with: Array("{\"reply\":".utf8)) else {
      return record(MessageCheck.read(text), &peer)
    }
    if peer.owed.isEmpty, peer.mayBeRefused {
      peer.mayBeRefused = false
      require(MessageCheck.read(text)["ok"] as? Bool == false, "a reply before any request")
      return
    }
    guard !peer.owed.isEmpty else {
      fail("a reply too many: \(String(decoding: text, as: UTF8.self))")
    }
    let (start, echoes) = peer.owed.removeFirst()
    require(
      text.starts(with: start),
      "not the next reply: \(String(decoding: text, as: UTF8.self)), "
        + "but \(String(decoding: start, as: UTF8.self))")
    checkReply(MessageCheck.read(text, echoes: echoes))
  }

  private func checkReply(_ reply: [String: Any]) {
    for state in MessageCheck.states(of: reply) { checkDurable(state) }
    guard reply["ok"] as? Bool == false else { return }
    let error = reply["error"] as? [String: Any]
    require(ErrorCode(rawValue: error?["code"] as? String ?? "") != nil, "no code: \(reply)")
    require((error?["message"] as? String)?.isEmpty == false, "no words: \(reply)")
  }

  private mutating func broadcast(_ text: [UInt8], to group: GroupID) {
    guard let members = groups[group], !members.isEmpty else {
      fail("a broadcast that nobody hears")
    }
    let message = MessageCheck.read(text)
    for connection in members {
      guard var peer = peers[connection] else { fail("a member that is gone") }
      record(message, &peer)
      peers[connection] = peer
    }
  }

  /// Checks an event: `hello` comes first, and no state is older than one that was shown before.
  private func record(_ message: [String: Any], _ peer: inout Peer) {
    let event = message["event"] as? String
    require(peer.wasGreeted == (event != "hello"), "hello comes first, and once: \(message)")
    peer.wasGreeted = true
    if event == "removed", let name = message["timer"] as? String { peer.shown[name] = nil }
    let cause = message["cause"] as? String
    if cause == "tick" {
      require(!MessageCheck.states(of: message).isEmpty, "a tick about nothing")
    }
    for state in MessageCheck.states(of: message) {
      checkDurable(state)
      guard let name = state["timer"] as? String, let revision = state["revision"] as? Int else {
        continue
      }
      require(revision >= peer.shown[name] ?? 0, "shown again, and older: \(message)")
      require(cause != "tick" || state["status"] as? String == "running", "no tick: \(message)")
      peer.shown[name] = revision
    }
  }

  /// Checks that no state is shown that a crash could lose.
  private func checkDurable(_ state: [String: Any]) {
    let revision = state["revision"] as? Int ?? .max
    require(revision <= disk.highestRevision, "shown before it was stored: \(state)")
  }

  private mutating func respond(_ response: HTTPResponse, to id: HTTPRequestID) {
    require(requests[id] == false, "an HTTP request is answered twice, or was never made")
    requests[id] = true
    require((200..<600).contains(response.status), "status \(response.status)")
    let isJSON = response.contentType.hasPrefix("application/json")
    if isJSON, !response.body.isEmpty {
      checkHTTPBody(response.body)
    }
  }

  /// Checks a body, which may also have an `"id"`.
  private func checkHTTPBody(_ body: [UInt8]) {
    let text = String(decoding: body, as: UTF8.self)
    let value = try? JSONSerialization.jsonObject(with: Data(body))
    // An id beyond what a `Double` holds is the one thing that Foundation does not read.
    if value == nil, text.hasPrefix("{\"reply\":"), text.first(where: \.isNumber) != nil { return }
    require(value is [String: Any], "no JSON: \(text)")
  }
}
