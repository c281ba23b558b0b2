import Glibc
import WebSocketTransport

/// Answers each message with itself, and does what a few words ask for:
///
/// - `join` and `leave`: of the one group, which `broadcast:COUNT:SIZE` sends to (its frames replace each
///   other) as does `flood:COUNT:SIZE` (they don't), at most a batch of 100 in one iteration; `beside`
///   joins another group, which every second frame of `weave:COUNT:SIZE` goes to;
/// - `loop`: the number of the loop that owns the connection; `name`: the connection's identity, and
///   `end:NAME`: the end of that one with 1008;
/// - `large:SIZE`: a message of that size; `close`: the end with 1001;
/// - `hold:MICROSECONDS`: its connection is not read until then;
/// - `post`: an answer by way of the mailbox; `wake:MICROSECONDS`: one at that deadline; with another
///   `:MICROSECONDS` it is busy so long before it asks for it.
struct Echo {
  let mailbox: Mailbox<String>
  var openedCount = 0
  var closedCount = 0
  private var live: Set<ConnectionID> = []
  private var asker: ConnectionID?
  private var isReplacing = false
  private var isWoven = false
  private var sent = 0
  private var left = 0
  private var size = 0
  private var wakeAsker: ConnectionID?
  private var heldBack: ConnectionID?
  private var counters = TransportCounters()
  private static let everybody = GroupID(1)
  private static let others = GroupID(2)
  private static let large = pattern(2_000_000)

  /// The bytes 0 to 250, repeated.
  static func pattern(_ count: Int) -> [UInt8] {
    let unit: [UInt8] = Array(0..<251)
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += unit }
    return Array(bytes.prefix(count))
  }

  init(mailbox: Mailbox<String>) { self.mailbox = mailbox }

  mutating func handle(
    _ event: TransportEvent, counters: TransportCounters, _ actions: inout [TransportAction]
  ) {
    self.counters = counters
    switch event {
    case .opened(let id, let handshake):
      openedCount += 1
      if handshake.query.contains(QueryItem("who", "me")) {
        actions.append(.send(Frame(Array(handshake.peerAddress.utf8)), to: id))
      }
      live.insert(id)
      for item in handshake.query where item.name == "say" {
        actions.append(.send(Frame(Array(item.value.utf8)), to: id))
      }
    case .received(let id, let text): perform(String(decoding: text, as: UTF8.self), id, &actions)
    case .receivedBinary(let id, let bytes):
      actions.append(.send(Frame(bytes, isBinary: true), to: id))
    case .closed(let id):
      closedCount += 1
      precondition(live.remove(id) != nil, "closed twice, or never opened")
    case .requested(let id, let request): answer(request, id, &actions)
    case .deadline: deadline(&actions)
    case .woken:
      for text in mailbox.drain() {
        if let asker { actions.append(.send(Frame(Array(text.utf8)), to: asker)) }
      }
    case .stopRequested: actions.append(.stop)
    case .reloadRequested: break
    }
  }

  private mutating func perform(
    _ text: String, _ id: ConnectionID, _ actions: inout [TransportAction]
  ) {
    let words = text.split(separator: ":")
    switch words.first {
    case "join": actions += [.join(id, Self.everybody), .send(Frame(Array("joined".utf8)), to: id)]
    case "leave": actions += [.leave(id, Self.everybody), .send(Frame(Array("left".utf8)), to: id)]
    case "beside": actions += [.join(id, Self.others), .send(Frame(Array("joined".utf8)), to: id)]
    case "broadcast" where words.count == 3, "flood" where words.count == 3,
      "weave" where words.count == 3:
      isReplacing = words[0] != "flood"
      isWoven = words[0] == "weave"
      (left, size) = (Int(words[1]) ?? 0, Int(words[2]) ?? 0)
      actions.append(.setDeadline(afterMicroseconds: 0))
    case "large" where words.count == 2:
      actions.append(.send(Frame(Array(repeating: 0x78, count: Int(words[1]) ?? 0)), to: id))
    case "loop": actions.append(.send(Frame(Array("loop \(id.loopNumber)".utf8)), to: id))
    case "end" where words.count == 2:
      let other = ConnectionID(UInt64(words[1]) ?? 0)
      actions.append(.close(other, .policyViolation, reason: "as another wishes"))
    case "name": actions.append(.send(Frame(Array("\(id.number)".utf8)), to: id))
    case "close": actions.append(.close(id, .goingAway, reason: "as you wish"))
    case "hold" where words.count == 2:
      heldBack = id
      actions += [.pauseReading(id), .setDeadline(afterMicroseconds: Int64(words[1]))]
    case "post":
      asker = id
      mailbox.post("posted")
    case "wake" where words.count >= 2:
      wakeAsker = id
      if words.count == 3 { usleep(UInt32(words[2]) ?? 0) }
      actions.append(.setDeadline(afterMicroseconds: Int64(words[1])))
    default: actions.append(.send(Frame(Array(text.utf8)), to: id))
    }
  }

  /// Sends the next frames of a broadcast: `17 xxxxx`, numbered throughout, filled up to the size.
  private mutating func deadline(_ actions: inout [TransportAction]) {
    if let connection = heldBack {
      heldBack = nil
      actions.append(.resumeReading(connection))
    }
    if let asker = wakeAsker {
      wakeAsker = nil
      actions.append(.send(Frame(Array("woken".utf8)), to: asker))
    }
    for _ in 0..<min(100, left) {
      sent += 1
      left -= 1
      var text = Array("\(sent) ".utf8)
      text += Array(repeating: 0x78, count: max(0, size - text.count))
      let group = isWoven && sent.isMultiple(of: 2) ? Self.others : Self.everybody
      actions.append(.broadcast(Frame(text, replacementKey: isReplacing ? 7 : nil), to: group))
    }
    if left > 0 { actions.append(.setDeadline(afterMicroseconds: 2_000)) }
  }

  /// `/api/…` answers with what it was asked; `/api/never` does not answer, `/api/large` with 2 MB,
  /// `/api/counters` with what the transport counted, a line each.
  private func answer(
    _ request: HTTPRequest, _ id: HTTPRequestID, _ actions: inout [TransportAction]
  ) {
    if request.path == ["api", "never"] { return }
    if request.path == ["api", "counters"] {
      let lines =
        [
          "accepted \(counters.acceptedCount)", "webSockets \(counters.webSocketCount)",
          "http \(counters.httpConnectionCount)", "tls \(counters.tlsWebSocketCount)",
          "loops \(counters.loopCount)",
        ] + counters.refusals.map { "\($0.key.rawValue) \($0.value)" }
      let body = Array(lines.joined(separator: "\n").utf8)
      actions.append(
        .respond(HTTPResponse(status: 200, contentType: "text/plain", body: body), to: id))
      return
    }
    if request.path == ["api", "large"] {
      actions.append(.respond(HTTPResponse(status: 200, body: Self.large), to: id))
      return
    }
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
    let headers = request.headers.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let lines = [
      request.method, request.path.joined(separator: "|"), query, headers.joined(separator: "|"),
      String(decoding: request.body, as: UTF8.self), request.peerAddress,
    ]
    let body = Array(lines.joined(separator: "\n").utf8)
    actions.append(
      .respond(HTTPResponse(status: 200, contentType: "text/plain", body: body), to: id))
  }
}
