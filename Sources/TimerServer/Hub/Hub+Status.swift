import TimerCore
import TimerProtocol
import WebSocketTransport

/// What the server tells of itself, in `hello` and whenever it changes.
extension Hub {
  var status: ServerStatus {
    ServerStatus(wallOffset: wallOffset, reason: storageTrouble)
  }

  /// Every open connection, whatever it may do. Channels count their groups from 1.
  static let everyone = GroupID(0)

  /// Sends the status to every connection when it is another one than was sent last; to build it once and send it to a
  /// group costs what one tick does. What changes again and again is sent twice a second.
  mutating func publishStatus(at now: Instant, _ actions: inout HubActions) {
    let status = status
    guard status != publication.last || publication.isDoubtful else { return }
    if let due = publication.nextAt, due > now { return deadlines.set(.status, due) }
    publication = StatusPublication(last: status, nextAt: now + StatusPublication.pause)
    guard !sessions.isEmpty else { return }
    let frame = Frame(ServerMessage.server(status).text, replacementKey: Self.everyone.number)
    actions.transport.append(.broadcast(frame, to: Self.everyone))
    counters.broadcasts += 1
  }
}

/// The status that connections know, and when they may be told another one.
struct StatusPublication {
  var last = ServerStatus()
  /// Whether a newcomer was told another one, that may be over by now.
  var isDoubtful = false
  /// nil: at once.
  var nextAt: Instant?

  static let pause: Seconds = 0.5
}
