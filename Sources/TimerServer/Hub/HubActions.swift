import TimerCore
import TimerStorage
import WebSocketTransport

/// The hub's requests to the transport, the store and the log.
struct HubActions {
  var transport: [TransportAction] = []
  /// For the store, in their order.
  var changes: [StoredChange] = []
  var log: [LogLine] = []
  /// Refusals, for the log to summarize.
  var refusals: [RefusalReason] = []
  /// The number of bytes sent to single connections.
  private(set) var sentBytes = 0

  mutating func send(_ text: [UInt8], to connection: ConnectionID) {
    send(Frame(text), to: connection)
  }

  mutating func send(_ frame: Frame, to connection: ConnectionID) {
    sentBytes += frame.byteCount
    transport.append(.send(frame, to: connection))
  }

  mutating func log(_ level: LogLevel, _ text: String) {
    log.append(LogLine(level: level, text: text))
  }

  /// Logs what a peer has caused, of which there may be as many lines as peers like.
  mutating func logAboutPeers(_ level: LogLevel, _ text: String) {
    log.append(LogLine(level: level, text: text, isAboutPeers: true))
  }
}

/// The hub's input.
enum HubEvent {
  case transport(TransportEvent)
  case store(StoreEvent)
  /// The deadline that the hub has set is due, or nothing else has happened: everything that is due is done.
  case wake
  /// The file of tokens holds these now; nil when it is gone.
  case tokens(TokenTable?)
  /// The wall clock is so far ahead of the server clock from here on.
  case wallOffset(Seconds)
}

extension Frame {
  /// Messages that go out together; there is at least one.
  init(_ texts: [[UInt8]], replacementKey: UInt64? = nil) {
    self.init(
      texts.first ?? [], additional: Array(texts.dropFirst()), replacementKey: replacementKey)
  }
}
