/// The server's requests to the transport, carried out in order, on the loop's thread, right after the event.
public enum TransportAction: Sendable, Equatable {
  /// Sends one text message to one connection; unknown or closing ones are passed over in silence.
  case send(Frame, to: ConnectionID)
  /// Sends one text message to every member of a group: built once, sent to all.
  case broadcast(Frame, to: GroupID)
  /// Makes a connection a member of a group; a group exists while it has members.
  case join(ConnectionID, GroupID)
  /// Ends a membership; a closed connection has left all its groups by itself.
  case leave(ConnectionID, GroupID)
  /// Sends what is queued, then a close frame, and gives up on the peer's answer after a second, or at the
  /// end of the drain.
  case close(ConnectionID, CloseCode, reason: String)
  /// Stops reading from a connection, so that TCP slows its peer down. What has been read already is still delivered.
  case pauseReading(ConnectionID)
  /// Reads from a connection again.
  case resumeReading(ConnectionID)
  /// Answers an HTTP request.
  case respond(HTTPResponse, to: HTTPRequestID)
  /// Asks for one `TransportEvent.deadline` this many microseconds after the event that it answers was handed
  /// over (0: at once), however long the actions before it take, instead of the one asked for before; nil
  /// asks for none.
  case setDeadline(afterMicroseconds: Int64?)
  /// Stops listening, closes every connection with 1001 once its queue is sent, answers what HTTP is
  /// left with 503, and makes `run` return when all are gone or `TransportOptions.drainSeconds` are over.
  case stop

  var isBroadcast: Bool {
    if case .broadcast = self { true } else { false }
  }
}

/// The bytes of one message, or of several that go out together, and what they may replace.
public struct Frame: Sendable, Equatable {
  /// UTF-8, unless it is binary.
  public let text: [UInt8]
  /// Further messages right behind it. They are queued, replaced and counted with it, so that no reader gets parts of
  /// two states.
  public let additional: [[UInt8]]
  /// When this frame meets an unsent one with the same key in a connection's queue, the older one is
  /// dropped and this one takes its place at the end. nil: it is never dropped and drops nothing.
  public let replacementKey: UInt64?

  /// True if the frame is sent as a binary message.
  public let isBinary: Bool

  /// Payload bytes of all of its messages.
  public var byteCount: Int { additional.reduce(text.count) { $0 + $1.count } }

  public init(
    _ text: [UInt8], additional: [[UInt8]] = [], replacementKey: UInt64? = nil,
    isBinary: Bool = false
  ) {
    self.text = text
    self.additional = additional
    self.replacementKey = replacementKey
    self.isBinary = isBinary
  }
}

/// Identifies a set of connections that receive the same broadcasts.
public struct GroupID: Hashable, Sendable {
  public let number: UInt64

  public init(_ number: UInt64) {
    self.number = number
  }
}

/// RFC 6455 §7.4.1, those that this server sends.
public enum CloseCode: UInt16, Sendable, Equatable {
  case goingAway = 1001
  case unsupportedData = 1003
  case invalidPayload = 1007
  case policyViolation = 1008
  case messageTooBig = 1009
  /// IANA's registry of close codes: the service restarts, and the client may reconnect.
  case serviceRestart = 1012
  case tryAgainLater = 1013
}

/// The answer to an HTTP request.
public struct HTTPResponse: Sendable, Equatable {
  public var status: Int
  public var contentType: String
  /// Further headers, names as they go out.
  public var headers: [HTTPHeader]
  public var body: [UInt8]

  public init(
    status: Int, contentType: String = "application/json; charset=utf-8",
    headers: [HTTPHeader] = [],
    body: [UInt8] = []
  ) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }
}

/// One header field of an answer.
public struct HTTPHeader: Sendable, Equatable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
