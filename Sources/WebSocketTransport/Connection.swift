/// One WebSocket connection: identity, what waits for it, what has arrived of its current message.
///
/// The loop's thread. Kept until its `TransportEvent.closed` has been handled.
final class Connection {
  /// How far the end has come.
  enum Phase {
    case open
    /// Nothing is delivered any more; the close frame goes out when the outbox is empty.
    case closing(CloseCode, reason: String)
    /// A close frame of ours or of libwebsockets' is out or about to be; nothing may be written.
    case silent
  }

  let id: ConnectionID
  /// nil once it is gone.
  var socket: WebSocket?
  var phase = Phase.open
  /// False for one connection too many, which the server never hears of.
  let isAnnounced: Bool
  /// Whether what arrives is looked at.
  var isHeard: Bool
  /// Whether the server closed it, and wants to hear nothing more but its end.
  var isMuted = false
  /// Whether a ping is out that nothing has answered.
  var isPinged = false
  var outbox = Outbox()
  /// Whether the next frame waits for the writeable callback, before which libwebsockets sends its pong:
  /// a ping between a message's fragments is answered before the message is.
  var isYielding = false
  var incoming: [UInt8] = []
  /// Whether nothing is read from it for now.
  private(set) var isHeldBack = false
  var memberships: [Membership] = []
  /// Frames of the broadcasts under way that are to go out together; only of who is open and clear.
  var gathered: Range<Int> = 0..<0
  /// Its place among those of its address.
  let place: AddressCounts.Place?

  init(
    _ id: ConnectionID, socket: WebSocket, place: AddressCounts.Place?, isAnnounced: Bool
  ) {
    self.id = id
    self.socket = socket
    self.place = place
    self.isAnnounced = isAnnounced
    isHeard = isAnnounced
  }

  var isOpen: Bool {
    if case .open = phase { socket != nil } else { false }
  }

  /// Whether a frame may go out right away.
  var isClear: Bool {
    guard outbox.isEmpty, !isYielding, let socket else { return false }
    return !socket.isBackedUp
  }

  /// Sends frames right away, while `isClear`; false when the connection is broken.
  func send(_ range: Range<Int>, of frames: WireFrames) -> Bool {
    socket?.send(range, of: frames) ?? true
  }

  /// Adds a frame of the broadcasts under way to those that go out together; false when it is no neighbour of theirs.
  func gather(_ number: Int) -> Bool {
    guard !gathered.isEmpty, gathered.upperBound == number else { return false }
    gathered = gathered.lowerBound..<number + 1
    return true
  }

  /// Reads nothing more; who is being closed is read, so that its answer is seen.
  func holdBack() {
    guard isOpen, !isHeldBack else { return }
    isHeldBack = true
    socket?.setReading(false)
  }

  func readOn() {
    guard isHeldBack else { return }
    isHeldBack = false
    socket?.setReading(true)
  }

  /// Sends as much as the socket takes, and the close frame after the last; false when it is broken.
  func flush(by frames: WireFrames) -> Bool {
    isYielding = false
    guard let socket else { return true }
    if case .silent = phase { return true }
    while !socket.isBackedUp {
      guard let frame = outbox.popFirst() else {
        if case .closing(let code, let reason) = phase {
          phase = .silent
          return socket.writeClose(code, reason: reason)
        }
        return true
      }
      frames.removeAll()
      frames.append(frame)
      guard socket.send(frames.byteRange(of: 0..<1), of: frames) else { return false }
    }
    socket.askWriteable()
    return true
  }
}

/// A connection's place in one group.
struct Membership {
  let group: Group
  var index: Int
}

/// The members of one group, densely, so that a broadcast walks an array.
final class Group {
  let id: GroupID
  private(set) var members: [Connection] = []

  init(_ id: GroupID) { self.id = id }

  func add(_ connection: Connection) {
    guard !connection.memberships.contains(where: { $0.group === self }) else { return }
    connection.memberships.append(Membership(group: self, index: members.count))
    members.append(connection)
  }

  func remove(_ connection: Connection) {
    guard let place = connection.memberships.firstIndex(where: { $0.group === self }) else {
      return
    }
    let index = connection.memberships.remove(at: place).index
    let last = members.removeLast()
    guard index < members.count else { return }
    // The last one takes the free place.
    members[index] = last
    if let moved = last.memberships.firstIndex(where: { $0.group === self }) {
      last.memberships[moved].index = index
    }
  }
}
