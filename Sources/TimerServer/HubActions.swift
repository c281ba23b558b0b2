import TimerCore
import TimerStorage
import WebSocketTransport

/// What the hub wants done.
struct HubActions {
  var transport: [TransportAction] = []
  /// For the disk's thread, in their order.
  var writes: [TimerWrite] = []
  var log: [LogLine] = []
  /// What was refused, for the log to tell in few lines.
  var refusals: [RefusalReason] = []

  mutating func send(_ text: [UInt8], to connection: ConnectionID) {
    transport.append(.send(Frame(text), to: connection))
  }

  mutating func log(_ level: LogLevel, _ text: String) {
    log.append(LogLine(level: level, text: text))
  }
}

/// What happens to the hub.
enum HubEvent {
  case transport(TransportEvent)
  case disk(DiskNote)
  /// The file of tokens holds these now; nil when it is gone.
  case tokens(TokenBook?)
  /// The wall clock is so far ahead of the server clock from here on.
  case wallOffset(Seconds)
}
