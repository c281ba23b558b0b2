import TimerCore
import TimerProtocol
import WebSocketTransport

/// The subscription that a WebSocket's URL asks for: `?timer=NAME&timer=NAME&interval=SECONDS`.
struct SubscriptionQuery: Equatable {
  let selection: TimerSelection
  let interval: Seconds

  /// nil when the URL asks for none.
  init?(_ query: [QueryItem]) throws(ErrorReply) {
    for item in query where !Self.known.contains(item.name) {
      throw ErrorReply(
        .badRequest,
        "the URL has no parameter \"\(item.name)\" here; it may have: timer, interval, token")
    }
    interval = try Self.interval(query.filter { $0.name == "interval" })
    let names = query.filter { $0.name == "timer" }.map(\.value)
    guard !names.isEmpty else { return nil }
    if names.contains("*") {
      selection = .all
      return
    }
    var ids: [TimerID] = []
    for name in names {
      guard let id = TimerID(name) else {
        throw ErrorReply(.badRequest, "\"timer\" in the URL is no timer's name: \(TimerID.rule)")
      }
      ids.append(id)
    }
    selection = .timers(ids)
  }

  private static let known: Set<String> = ["timer", "interval", "token"]

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
