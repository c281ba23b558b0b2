import TimerCore
import TimerProtocol

/// The replies that one connection is owed, in the order of its requests.
struct ReplyQueue {
  private var entries: [Entry] = []
  /// The place of the first entry; places count up in the life of a connection.
  private var firstPlace = 0
  /// True if the next reply waits for its turn among costly work.
  var waitsForTurn = false
  /// True if the queue of costly work has a job for these replies, even if the reply has been sent meanwhile.
  var hasJob = false

  enum Entry {
    /// Waits for the disk.
    case awaited
    case ready(ServerMessage)
    /// Reads a state. It is looked up when everything before it is durable, with the grant that the connection had when
    /// it sent the request.
    case deferred(ClientMessage, receivedAt: Instant, Grant)
    /// A subscription that the URL asked for.
    case initialSubscription(Subscription, Grant)
    /// The request was invalid; the timer's state is read when the reply is sent.
    case malformed(MalformedMessage, Grant)
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  /// Adds an entry at the end and gives its place.
  mutating func append(_ entry: Entry) -> Int {
    entries.append(entry)
    return firstPlace + entries.count - 1
  }

  /// Sets the reply for a place that waits for the disk.
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

  /// True if the first reply is known.
  var isFirstReady: Bool {
    if case .ready? = entries.first { true } else { false }
  }

  /// Returns whether the reply of this place has not gone out.
  func holds(_ place: Int) -> Bool { place >= firstPlace }
}
