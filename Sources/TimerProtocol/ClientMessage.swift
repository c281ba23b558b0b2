public import TimerCore

/// A client's message.
public struct ClientMessage: Equatable, Sendable {
  /// Given back in the reply.
  public let tag: ReplyTag
  public let request: ClientRequest

  public init(tag: ReplyTag = .none, request: ClientRequest) {
    self.tag = tag
    self.request = request
  }
}

/// A request, checked: each value of it is within its bounds.
public enum ClientRequest: Equatable, Sendable {
  case change(TimerID, TimerChange, idempotencyKey: IdempotencyKey?)
  case finishAll(at: Instant?, idempotencyKey: IdempotencyKey?)
  case get(TimerID)
  case list
  /// A part of the list.
  case listPage(ListPage)
  /// An interval of zero asks for changes only; `since` asks for the ends that were missed from there on; `inParts` for
  /// messages that are no longer than `ServerMessage.partBytesMax`.
  case subscribe(
    TimerSelection, interval: Seconds, since: HistoryPoint? = nil, inParts: Bool = false)
  case unsubscribe(TimerSelection)
  /// `clientTime` is given back as it was spelled.
  case sync(clientTime: ReplyTag)
  case authenticate(token: String)

  /// The allowed intervals, beside zero.
  public static let intervals: ClosedRange<Seconds> = 0.1...3600

  /// The same in words.
  public static let intervalRule =
    "0 for changes only, or \(intervals.lowerBound.text) to \(intervals.upperBound.text)"

  /// True if it may change a timer.
  public var isChange: Bool {
    switch self {
    case .change, .finishAll: true
    default: false
    }
  }
}

/// A page of the list of timers.
public struct ListPage: Equatable, Sendable {
  /// The most timers that it may have.
  public let limit: Int
  /// Those that are sorted after this name; nil: from the first one on.
  public let after: TimerID?

  public init(limit: Int, after: TimerID? = nil) {
    self.limit = limit
    self.after = after
  }

  /// The allowed limits.
  public static let limits = 1...10_000
}

/// The point up to which a client had followed the server when its connection was lost.
public struct HistoryPoint: Hashable, Sendable {
  /// The `history` of the hello of that connection.
  public let history: String
  /// The highest revision that it received.
  public let revision: Int

  public init(history: String, revision: Int) {
    self.history = history
    self.revision = revision
  }

  /// Reads `HISTORY:REVISION`; nil for anything else.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), colon != text.startIndex else { return nil }
    guard let revision = Self.revision(text[text.index(after: colon)...]) else { return nil }
    self.init(history: String(text[..<colon]), revision: revision)
  }

  /// Reads a revision, which has digits alone; nil for anything else.
  public static func revision(_ digits: Substring) -> Int? {
    digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
  }

  /// The rule, for error messages.
  public static let rule =
    "HISTORY:REVISION, the \"history\" of hello and the highest \"revision\" seen, as in \"9f3c:41\""
}

/// The timers of a subscription.
public enum TimerSelection: Hashable, Sendable {
  case all
  case timers([TimerID])
}

/// A client's own name for a change, by which a repeated one is known: 1 to 64 bytes.
public struct IdempotencyKey: Hashable, Sendable {
  public let text: String

  /// nil when it is empty or too long.
  public init?(_ text: String) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
    self.text = text
  }

  /// The most bytes that it may have.
  public static let bytesMax = 64

  public static func == (left: Self, right: Self) -> Bool {
    left.text.isSpelled(right.text)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

/// An invalid message, with the error for its reply.
public struct MalformedMessage: Error, Equatable, Sendable {
  public let tag: ReplyTag
  public let error: ErrorReply
  /// The timer that it is about, if that can be told.
  public let timer: TimerID?

  init(tag: ReplyTag = .none, error: ErrorReply, timer: TimerID? = nil) {
    self.tag = tag
    self.error = error
    self.timer = timer
  }
}

extension ClientMessage {
  /// Reads a text message.
  public init(_ text: [UInt8]) throws(MalformedMessage) {
    let object: JSONObject
    do { object = try Self.object(text) } catch { throw MalformedMessage(error: error) }
    try self.init(object)
  }

  /// Parses an HTTP request: its path has the timer and the command, its headers some fields, its body the others.
  public init(
    command: String, timer: String?, fields: [HeaderField], body: [UInt8]
  ) throws(MalformedMessage) {
    var object: JSONObject
    do {
      object = try body.isEmpty ? JSONObject() : Self.object(body)
      try Self.add("command", .string(command), to: &object)
      if let timer { try Self.add("timer", .string(timer), to: &object) }
      for field in fields { try Self.add(field.name, field.value, to: &object) }
    } catch {
      throw MalformedMessage(error: error)
    }
    try self.init(object)
  }

  init(_ object: JSONObject) throws(MalformedMessage) {
    let tag = object["id"].map(ReplyTag.init(_:)) ?? ReplyTag.none
    guard let tag else {
      throw MalformedMessage(
        error: .badRequest("\"id\" has to be a string or a number, or left out"),
        timer: ClientRequest.timer(in: object))
    }
    do {
      self.init(tag: tag, request: try ClientRequest(object))
    } catch {
      throw MalformedMessage(tag: tag, error: error, timer: ClientRequest.timer(in: object))
    }
  }

  static func object(_ text: [UInt8]) throws(ErrorReply) -> JSONObject {
    let value: JSONValue
    do { value = try JSONReader.read(text) } catch {
      throw .badRequest("not the JSON of a request: \(error.reason)")
    }
    guard case .object(let object) = value else {
      throw .badRequest("a request is a JSON object like {\"command\":\"list\"}, not \(value.kind)")
    }
    return object
  }

  static func add(
    _ name: String, _ value: JSONValue, to object: inout JSONObject
  ) throws(ErrorReply) {
    guard object.add(name, value) else {
      throw .badRequest("\"\(name)\" is set by the path or a header; leave it out of the body")
    }
  }
}

/// A field of a request that comes from an HTTP header.
public enum HeaderField: Hashable, Sendable {
  case text(String, String)
  case number(String, Int)

  var name: String {
    switch self {
    case .text(let name, _), .number(let name, _): name
    }
  }

  var value: JSONValue {
    switch self {
    case .text(_, let text): .string(text)
    case .number(_, let number): .number(JSONNumber(spelling: "\(number)", value: Double(number)))
    }
  }
}
