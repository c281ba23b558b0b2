/// One WebSocket connection: identity, what waits for it, what has arrived of its current message.
///
/// The loop's thread. Kept until its `TransportEvent.closed` has been handled.
final class Connection: BacklogReader {
  /// The connection's progress towards its end.
  enum Phase {
    case open
    /// Nothing is delivered any more; the close frame goes out when the outbox is empty.
    case closing(CloseCode, reason: String)
    /// A close frame of ours or of libwebsockets' is out or about to be; nothing may be written.
    case closeSent
  }

  let id: ConnectionID
  /// nil once it is gone.
  var socket: WebSocket?
  var phase = Phase.open
  /// False for a connection over the limit, which is not reported to the server.
  let isAnnounced: Bool
  /// True if received data is processed.
  var acceptsInput: Bool
  /// True if the server closed it; only its end is delivered from then on.
  var isClosedByServer = false
  /// True if a ping was sent and not answered.
  var isPingOutstanding = false
  var outbox: Outbox
  /// Bytes given to libwebsockets because the socket did not take them. It does not report how many are left, so they
  /// count until all are sent.
  private(set) var tailByteCount = 0
  var backlogEntry = BacklogEntry()
  /// True if the relay's buffer may hold the end of a large frame, which the limit ignores.
  private var isRelayOfLarge = false
  /// Called when libwebsockets was given a tail.
  private let fellBehind: (Connection) -> Void
  /// True if the next frame has to wait for the writeable callback, before which libwebsockets sends its pong: a ping
  /// between a message's fragments is answered before the message is.
  var waitsForWriteable = false
  var incoming: [UInt8] = []
  /// True if the server paused reading.
  private var isPausedByServer = false
  /// True if reading is paused because too much waits for the connection.
  private(set) var isPausedByBacklog = false
  /// Messages that had been read when reading paused, kept until it resumes.
  private var deferredEvents: [TransportEvent] = []
  /// True if libwebsockets may hold input of the connection that it has not parsed.
  var mayBeBuffered = false
  /// True if the sending side closes after libwebsockets' close frame.
  var endsAfterClose = false
  var memberships: [Membership] = []
  /// Frames of the current broadcasts to send together; empty unless the connection is open and can send now.
  var gathered: Range<Int> = 0..<0
  /// Its slot in the count of its address.
  let addressSlot: AddressCounts.Slot?

  /// A frame of `largeFrom` bytes is counted separately, see `isTooFarBehind`.
  init(
    _ id: ConnectionID, socket: WebSocket?, addressSlot: AddressCounts.Slot?, isAnnounced: Bool,
    largeFrom: Int, fellBehind: @escaping (Connection) -> Void
  ) {
    self.id = id
    self.socket = socket
    self.addressSlot = addressSlot
    self.isAnnounced = isAnnounced
    self.fellBehind = fellBehind
    outbox = Outbox(largeFrom: largeFrom)
    acceptsInput = isAnnounced
  }

  var isCloseSent: Bool {
    if case .closeSent = phase { true } else { false }
  }

  var isOpen: Bool {
    if case .open = phase { socket != nil } else { false }
  }

  /// True if a frame can be sent right away.
  var canSendNow: Bool {
    guard outbox.isEmpty, !waitsForWriteable, let socket else { return false }
    return !socket.isBackedUp
  }

  /// Sends frames right away, while `canSendNow`; false when the connection is broken.
  func send(_ range: Range<Int>, of frames: WireFrames) -> Bool {
    guard let socket else { return true }
    guard let tail = socket.send(range, of: frames) else { return false }
    if tail > 0 {
      tailByteCount = tail
      if tail >= outbox.largeFrom { isRelayOfLarge = true }
      fellBehind(self)
    }
    return true
  }

  /// Adds a frame of the broadcasts under way to those that are sent together; returns false when it does not follow
  /// them.
  func gather(_ number: Int) -> Bool {
    guard !gathered.isEmpty, gathered.upperBound == number else { return false }
    gathered = gathered.lowerBound..<number + 1
    return true
  }

  /// True if the connection is being read.
  var isReading: Bool { !isPausedByServer && !isPausedByBacklog }

  /// Stops reading. A closing connection is still read, so that the peer's close frame is seen.
  func pauseReading() {
    guard isOpen else { return }
    setReading { isPausedByServer = true }
  }

  func resumeReading() { setReading { isPausedByServer = false } }

  /// Reads nothing more, and keeps what was read already, until `resumeFromBacklog`.
  func pauseForBacklog() {
    guard isOpen else { return }
    setReading { isPausedByBacklog = true }
  }

  /// Reads again, unless the server paused reading, and returns the messages that were kept.
  func resumeFromBacklog() -> [TransportEvent] {
    setReading { isPausedByBacklog = false }
    defer { deferredEvents = [] }
    return deferredEvents
  }

  /// Keeps an event of a connection that is paused; false when it is to be handled now.
  func deferIfPaused(_ event: TransportEvent) -> Bool {
    guard isPausedByBacklog, socket != nil else { return false }
    deferredEvents.append(event)
    return true
  }

  private func setReading(_ change: () -> Void) {
    let wasRead = isReading
    change()
    guard isReading != wasRead else { return }
    mayBeBuffered = true
    socket?.setReading(isReading)
  }

  /// Sends as much as the socket takes, and the close frame after the last; false when it is broken.
  func flush(by frames: WireFrames) -> Bool {
    waitsForWriteable = false
    guard let socket else { return true }
    if !socket.isBackedUp {
      tailByteCount = 0
      isRelayOfLarge = isRelayOfLarge && waitingByteCount > ownByteCount
    }
    if case .closeSent = phase { return true }
    while !socket.isBackedUp {
      guard let frame = outbox.popFirst() else {
        if case .closing(let code, let reason) = phase {
          phase = .closeSent
          return socket.writeClose(code, reason: reason)
        }
        return true
      }
      frames.removeAll()
      frames.append(frame)
      guard send(frames.byteRange(of: 0..<1), of: frames) else { return false }
    }
    socket.requestWriteable()
    return true
  }
}

extension Connection {
  var waitingByteCount: Int {
    guard let socket else { return 0 }
    return ownByteCount + (socket.relay?.waitingByteCount ?? 0)
  }

  /// Bytes that wait for the connection outside its relay. The relay holds little, and its buffer changes without a
  /// notification.
  var ownByteCount: Int { tailByteCount + outbox.byteCount }

  /// Without the kernel's count, a tail that has been sent is the only sign of progress.
  var readProgress: Int64 {
    let count = socket?.acknowledgedByteCount ?? -1
    return count >= 0 ? count : -Int64(tailByteCount)
  }

  /// Returns whether more waits than may: see `Outbox.exceedsLimit`.
  func isTooFarBehind(bytesMax: Int) -> Bool {
    let inRelay = isRelayOfLarge ? 0 : waitingByteCount - ownByteCount
    return outbox.exceedsLimit(bytesMax: bytesMax, behindTail: tailByteCount, inRelay: inRelay)
  }
}

/// A connection's place in one group.
struct Membership {
  let group: Group
  var index: Int
}

/// The members of one group, in an array without gaps, for fast broadcasts.
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
