import TimerCore
import TimerProtocol

/// The replies that one connection is owed, in the order of its requests.
struct ReplyQueue {
  private var entries: [Entry] = []
  /// The place of the first entry; places count up in the life of a connection.
  private var firstPlace = 0

  enum Entry {
    /// Waits for the disk.
    case awaited
    case ready(ServerMessage)
    /// Asks for a state: looked up when its turn comes, when all before it is durable, and judged by what the
    /// connection was allowed when it asked.
    case deferred(ClientMessage, receivedAt: Instant, Grant)
    /// A subscription that the URL asked for.
    case initialSubscription(Subscription, Grant)
    /// Makes no sense; the timer's state stands beside the error, as of its turn.
    case malformed(MalformedMessage, Grant)
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  /// Adds an entry at the end and gives its place.
  mutating func append(_ entry: Entry) -> Int {
    entries.append(entry)
    return firstPlace + entries.count - 1
  }

  /// What was awaited at a place is there.
  mutating func resolve(_ place: Int, _ message: ServerMessage) {
    precondition(place >= firstPlace, "a reply is resolved once")
    entries[place - firstPlace] = .ready(message)
  }

  var first: Entry? { entries.first }

  /// Takes the first entry unless it still waits for the disk.
  mutating func popFirst() -> Entry? {
    switch entries.first {
    case nil, .awaited?: return nil
    case let entry?:
      entries.removeFirst()
      firstPlace += 1
      return entry
    }
  }

  /// Whether the message of the first entry is known.
  var isFirstReady: Bool {
    if case .ready? = entries.first { true } else { false }
  }

  /// Whether the reply of this place has not gone out.
  func holds(_ place: Int) -> Bool { place >= firstPlace }
}
