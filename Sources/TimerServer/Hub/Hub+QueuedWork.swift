import TimerCore
import TimerProtocol
import WebSocketTransport

/// Costly work when its turn has come.
extension Hub {
  /// Costly work that waits in the queue.
  enum Job {
    /// The first reply that a connection is owed.
    case reply(ConnectionID)
    case command(ClientMessage, HTTPRequest, Grant, HTTPRequestID)
    case picture(QRText, HTTPRequestID)
  }

  /// Does what waits, for a few milliseconds at most.
  mutating func runQueuedWork(_ turn: inout Turn) {
    var jobsLeft = Self.jobsAtOnce
    while jobsLeft > 0, let job = workQueue.popNext(at: turn.now) {
      jobsLeft -= 1
      switch job {
      case .reply(let connection): resumeReplies(to: connection, &turn)
      case .command(let message, let request, let grant, let id):
        answerQuery(message, request, grant, id, &turn)
      case .picture(let text, let id): answerQRCode(text, id, &turn)
      }
    }
    // Other deadlines run before the rest.
    deadlines.set(.queuedWork, workQueue.next.map { max($0, turn.now + Seconds(microseconds: 1)) })
    resumeReading(&turn)
  }

  /// The limit is high, since jobs of closed or answered connections take almost no time.
  private static let jobsAtOnce = 64

  /// The server stops: no costly work is begun any more.
  mutating func refuseQueuedWork(_ turn: inout Turn) {
    for job in workQueue.removeAll() {
      switch job {
      case .reply(let connection):
        guard let session = sessions[connection] else { continue }
        refuseQueuedReplies(session, &turn)
        session.replies.waitsForTurn = false
        session.replies.hasJob = false
      case .command(let message, _, _, let id):
        count(ErrorReply.closedBeforeAnswer.code, &turn)
        respond(.refused(message.tag, .closedBeforeAnswer, timer: nil), to: id, &turn)
      case .picture(_, let id):
        count(ErrorReply.closedBeforeAnswer.code, &turn)
        respond(.refused(.none, .closedBeforeAnswer, timer: nil), to: id, &turn)
      }
    }
    deadlines.remove(.queuedWork)
  }
}
