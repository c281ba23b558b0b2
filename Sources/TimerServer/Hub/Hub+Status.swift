import TimerCore
import TimerProtocol
import WebSocketTransport

/// The server's status, sent in `hello` and whenever it changes.
extension Hub {
  var status: ServerStatus {
    ServerStatus(wallOffset: wallOffset, reason: storageTrouble)
  }

  /// Every open connection, whatever it may do. Channels count their groups from 1.
  static let everyone = GroupID(0)

  /// Sends a changed status to every connection. It is encoded once and sent to a group, which costs as much as one
  /// tick. A status that keeps changing is sent twice a second.
  mutating func publishStatus(_ turn: inout Turn) {
    let status = status
    guard status != publication.last || publication.isDoubtful else { return }
    if let due = publication.nextAt, due > turn.now { return deadlines.set(.status, due) }
    publication = StatusPublication(last: status, nextAt: turn.now + StatusPublication.pause)
    guard !sessions.isEmpty else { return }
    let frame = Frame(ServerMessage.server(status).text, replacementKey: Self.everyone.number)
    turn.actions.transport.append(.broadcast(frame, to: Self.everyone))
    counters.broadcasts += 1
  }
}

/// The status that was sent last, and when the next one may be sent.
struct StatusPublication {
  var last = ServerStatus()
  /// True if a new connection was sent another status, which may be outdated by now.
  var isDoubtful = false
  /// nil: the next status may be sent at once.
  var nextAt: Instant?

  static let pause: Seconds = 0.5
}
