import TimerCore
import TimerProtocol
import WebSocketTransport

/// A client's subscription.
struct Subscription: Equatable {
  let selection: TimerSelection
  let interval: Seconds
  /// The point up to which it had followed the server; ends that it missed since are sent again.
  let since: HistoryPoint?
  /// True if it wants long messages in parts.
  let inParts: Bool

  init(
    _ selection: TimerSelection, interval: Seconds, since: HistoryPoint? = nil,
    inParts: Bool = false
  ) {
    self.selection = selection
    self.interval = interval
    self.since = since
    self.inParts = inParts
  }

  /// The interval in effect: ticks of all timers are sent at most twenty times a second.
  var effectiveInterval: Seconds {
    guard case .all = selection, interval > .zero else { return interval }
    let steps = (interval.microseconds + Self.step.microseconds / 2) / Self.step.microseconds
    return max(Self.step * steps, ClientRequest.intervals.lowerBound)
  }

  /// Intervals of every timer are multiples of it.
  private static let step: Seconds = 0.05
}

/// The subscription in a WebSocket's URL: `?timer=NAME&timer=NAME&interval=SECONDS&since=HISTORY:REVISION&parts=1`.
struct SubscriptionQuery: Equatable {
  let subscription: Subscription

  /// nil when the URL asks for none.
  init?(_ query: [QueryItem]) throws(ErrorReply) {
    for item in query where !Self.known.contains(item.name) {
      throw ErrorReply(
        .badRequest,
        "the URL has no parameter \"\(item.name)\" here; it may have: timer, interval, since, parts, token"
      )
    }
    let interval = try Self.interval(query.filter { $0.name == "interval" })
    let since = try Self.since(query.filter { $0.name == "since" })
    let inParts = try Self.parts(query.filter { $0.name == "parts" })
    let names = query.filter { $0.name == "timer" }.map(\.value)
    guard !names.isEmpty else { return nil }
    if names.contains("*") {
      subscription = Subscription(.all, interval: interval, since: since, inParts: inParts)
      return
    }
    var ids: [TimerID] = []
    for name in names {
      guard let id = TimerID(name) else {
        throw ErrorReply(.badRequest, "\"timer\" in the URL is not a valid name: \(TimerID.rule)")
      }
      ids.append(id)
    }
    subscription = Subscription(
      .timers(ids), interval: interval, since: since, inParts: inParts)
  }

  private static let known: Set<String> = ["timer", "interval", "since", "parts", "token"]

  private static func parts(_ items: [QueryItem]) throws(ErrorReply) -> Bool {
    guard let item = items.first else { return false }
    guard items.count == 1, item.value == "1" || item.value == "0" else {
      throw ErrorReply(.badRequest, "\"parts\" in the URL has to be 1 or 0, once")
    }
    return item.value == "1"
  }

  private static func since(_ items: [QueryItem]) throws(ErrorReply) -> HistoryPoint? {
    guard let item = items.first else { return nil }
    guard items.count == 1, let point = HistoryPoint(item.value) else {
      throw ErrorReply(.badRequest, "\"since\" in the URL has to be one \(HistoryPoint.rule)")
    }
    return point
  }

  private static func interval(_ items: [QueryItem]) throws(ErrorReply) -> Seconds {
    guard let item = items.first else { return 1 }
    guard items.count == 1, let number = Double(item.value), let length = Seconds(exactly: number)
    else {
      throw ErrorReply(.badRequest, "\"interval\" in the URL has to be one number of seconds")
    }
    guard length == .zero || ClientRequest.intervals.contains(length) else {
      let bounds = ClientRequest.intervals
      throw ErrorReply(
        .outOfRange,
        "\"interval\" in the URL has to be \(ClientRequest.intervalRule)",
        limit: length < bounds.lowerBound ? bounds.lowerBound : bounds.upperBound)
    }
    return length
  }
}
