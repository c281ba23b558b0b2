extension ServiceLoop {
  func send(_ frame: Frame, to id: ConnectionID) {
    guard let connection = connections[id], connection.isOpen else { return }
    guard connection.isClear else { return queue(frame, for: connection) }
    single.removeAll()
    single.append(frame)
    if !connection.send(single.byteRange(of: 0..<1), of: single) { drop(connection) }
  }

  /// Sends frames that are due together, each to every member of its group.
  ///
  /// The hot loop of the server: what is here is paid for every message and every client. Each frame is laid
  /// out once, header included; who has nothing waiting gets it in one `send` of those bytes, together with
  /// its neighbours that are for it too. Nothing may come in here that allocates, looks up a table or asks
  /// libwebsockets for more than whether it is backed up.
  func broadcast(_ broadcasts: ArraySlice<TransportAction>) {
    frames.removeAll()
    for case .broadcast(let frame, let id) in broadcasts {
      guard let group = groups[id] else { continue }
      let number = frames.count
      frames.append(frame)
      let range = frames.byteRange(of: number..<number + 1)
      let isAlone = broadcasts.count == 1
      for connection in group.members {
        // Who is to get the frame before was looked at a moment ago.
        if connection.gather(number) { continue }
        sendGathered(connection)
        guard connection.isOpen else { continue }
        if !connection.isClear {
          queue(frame, for: connection, isWalking: true)
        } else if isAlone {
          if !connection.send(range, of: frames) { broken.append(connection) }
        } else {
          connection.gathered = number..<number + 1
          gathering.append(connection)
        }
      }
    }
    for connection in gathering { sendGathered(connection) }
    gathering.removeAll(keepingCapacity: true)
    // Only now, because a connection that goes leaves its groups.
    while let connection = broken.popLast() { settle(connection) }
  }

  /// Frames that are not neighbours go out by themselves; after that the socket may be full.
  private func sendGathered(_ connection: Connection) {
    guard !connection.gathered.isEmpty else { return }
    let range = frames.byteRange(of: connection.gathered)
    connection.gathered = 0..<0
    if !connection.send(range, of: frames) { broken.append(connection) }
  }

  private func settle(_ connection: Connection) {
    leaveAll(connection)
    if connection.isOpen { drop(connection) }
  }

  private func queue(_ frame: Frame, for connection: Connection, isWalking: Bool = false) {
    if connection.outbox.isEmpty { connection.socket?.askWriteable() }
    connection.outbox.append(frame)
    countWaiting(connection)
    guard connection.isTooFarBehind(bytesMax: options.unsentBytesMax) else { return }
    options.log(.debug, "connection \(connection.id.number) reads too slowly and is closed")
    count(.slowWebSocket)
    closeSlow(connection, reason: "too slow a reader", isWalking: isWalking)
  }

  /// Closes a connection for which too much waits, and keeps nothing of it but what libwebsockets has.
  func closeSlow(_ connection: Connection, reason: String, isWalking: Bool = false) {
    connection.outbox.removeAll()
    connection.isMuted = true
    startClosing(connection, .tryAgainLater, reason: reason)
    if isWalking { broken.append(connection) } else { leaveAll(connection) }
  }

  func join(_ id: ConnectionID, _ groupID: GroupID) {
    guard let connection = connections[id], connection.isOpen else { return }
    let group = groups[groupID] ?? Group(groupID)
    groups[groupID] = group
    group.add(connection)
  }

  func leave(_ id: ConnectionID, _ groupID: GroupID) {
    guard let connection = connections[id], let group = groups[groupID] else { return }
    group.remove(connection)
    if group.members.isEmpty { groups[groupID] = nil }
  }

  private func leaveAll(_ connection: Connection) {
    for membership in connection.memberships.reversed() {
      leave(connection.id, membership.group.id)
    }
  }

  /// Starts the end of a connection: what is queued, the close frame, and a while for the answer.
  func close(_ connection: Connection, _ code: CloseCode, reason: String) {
    guard connection.isOpen else { return }
    connection.isMuted = true
    startClosing(connection, code, reason: reason)
    leaveAll(connection)
  }

  private func startClosing(_ connection: Connection, _ code: CloseCode, reason: String) {
    connection.isHeard = false
    connection.phase = .closing(code, reason: reason)
    connection.readOn()
    for event in connection.unpause() { emit(event) }
    backlog.beginLeaving(connection)
    countWaiting(connection)
    // At the stop each has all of the drain.
    if !isStopping {
      watch(.farewell(connection.id), afterMilliseconds: Self.farewellMilliseconds)
    }
    // A tail that libwebsockets holds goes first; its room is what the writeable callback tells of.
    guard let socket = connection.socket else { return }
    if connection.outbox.isEmpty {
      connection.phase = .silent
      _ = socket.writeClose(code, reason: reason)
    } else {
      socket.askWriteable()
    }
  }

  /// Drops a connection without a word; not from within libwebsockets.
  func drop(_ connection: Connection) {
    connection.phase = .silent
    connection.socket?.kill()
  }

  // MARK: Deadlines

  func watch(_ subject: Deadlines.Subject, afterMilliseconds delay: UInt64) {
    deadlines.add(subject, atMilliseconds: eventLoop.nowMilliseconds + delay)
    setDeadlineTimer()
  }

  private func setDeadlineTimer() {
    guard let due = deadlines.earliest, due != deadlineSet else { return }
    deadlineSet = due
    deadlineTimer?.set(atMilliseconds: due)
  }

  func lookAtDeadlines() {
    deadlineSet = nil
    let now = eventLoop.nowMilliseconds
    while let subject = deadlines.popDue(atMilliseconds: now) {
      switch subject {
      case .silence(let id): if let connection = connections[id] { lookForLife(connection) }
      case .farewell(let id): if let connection = connections[id] { drop(connection) }
      case .exchange(let number): if let exchange = exchanges[number] { lookForProgress(exchange) }
      case .backlog: lookAtBacklog()
      case .acceptance: isAcceptanceWatched = false  // The next turn looks.
      case .relay(let number): if let relay = relays[number] { lookForFarewell(relay) }
      }
    }
    setDeadlineTimer()
  }

  var pingMilliseconds: UInt64 { UInt64(min(max(0.01, options.pingSeconds), 1e9) * 1_000) }

  /// Any byte counts as life, also the peer's own pings, which libwebsockets does not tell of: so the
  /// kernel is asked. Its clock is too coarse to tell an answer to our ping from what came just before
  /// it; so an answer also clears `isPinged`.
  private func lookForLife(_ connection: Connection) {
    guard let socket = connection.socket, connection.isOpen else { return }
    // Who is not read can't be heard.
    let silence = connection.isRead ? socket.silenceMilliseconds : 0
    if silence < pingMilliseconds {
      connection.isPinged = false
      watch(.silence(connection.id), afterMilliseconds: pingMilliseconds - silence)
    } else if !connection.isPinged {
      connection.isPinged = true
      guard socket.writePing() else { return drop(connection) }
      watch(.silence(connection.id), afterMilliseconds: pingMilliseconds)
    } else {
      options.log(.debug, "connection \(connection.id.number) is silent and is dropped")
      count(.silent)
      drop(connection)
    }
  }
}

extension ServiceLoop: WebSocketListener {
  func established(_ socket: WebSocket) -> UInt64 {
    guard let adoption = adopting else { return 0 }
    adopting = nil
    let (handshake, hasAhead) = (adoption.handshake, adoption.hasAhead)
    let place = addresses.take(for: IPAddress(handshake.peerAddress))
    let refusal = refusal(of: place, after: census.addWebSocket(to: connections.count))
    let connection = connections.insert {
      Connection(
        $0, socket: socket, place: place, isAnnounced: refusal == nil,
        largeFrom: options.unsentBytesMax + 1, isBehind: isBehind)
    }
    connection.mayBeBuffered = hasAhead
    socket.relay?.connection = connection.id
    if let refusal {
      close(connection, refusal.code, reason: refusal.reason)
      socket.uncork()
    } else {
      watch(.silence(connection.id), afterMilliseconds: pingMilliseconds)
      emit(.opened(connection.id, handshake))
    }
    return connection.id.number
  }

  /// Why one more connection is not let in.
  private func refusal(
    of place: AddressCounts.Place?, after earlier: Int
  ) -> (code: CloseCode, reason: String)? {
    if isStopping { return (.goingAway, "the server stops") }
    if place?.isSurplus == true {
      count(.tooManyOfAddress)
      return (.tryAgainLater, "too many connections from this address")
    }
    if earlier >= room.webSocketsMax {
      count(.tooManyConnections)
      return (.tryAgainLater, "too many connections")
    }
    return nil
  }

  func received(_ piece: borrowing Span<UInt8>, isBinary: Bool, isLast: Bool, number: UInt64) {
    guard let connection = connections[ConnectionID(number)], connection.isHeard else { return }
    connection.isPinged = false
    if isBinary, !options.acceptsBinary {
      count(.binaryMessage)
      return refuse(connection, .unsupportedData, reason: "messages are text")
    }
    guard connection.incoming.count + piece.count <= options.messageBytesMax else {
      count(.messageTooLong)
      return refuse(
        connection, .messageTooBig, reason: "a message is at most \(options.messageBytesMax) bytes")
    }
    // The bytes are libwebsockets', lent for this call on the loop's thread, and copied here.
    unsafe piece.withUnsafeBufferPointer { unsafe connection.incoming.append(contentsOf: $0) }
    guard isLast else { return }
    let isOfPieces = connection.incoming.count > piece.count
    // libwebsockets checks each piece, but not that the last character is whole when an empty one ends it.
    guard isBinary || !isOfPieces || validUTF8(connection.incoming) != nil else {
      return refuse(connection, .invalidPayload, reason: "a message is UTF-8")
    }
    connection.isYielding = isOfPieces
    let message = connection.incoming
    connection.incoming = []
    emit(isBinary ? .receivedBinary(connection.id, message) : .received(connection.id, message))
  }

  func ponged(number: UInt64) { connections[ConnectionID(number)]?.isPinged = false }

  /// What was received before stays valid; nothing after it is looked at.
  private func refuse(_ connection: Connection, _ code: CloseCode, reason: String) {
    connection.incoming = []
    connection.isHeard = false
    connection.outbox.removeAll()
    startClosing(connection, code, reason: reason)
    leaveAll(connection)
  }

  func closing(number: UInt64) -> Bool {
    guard let connection = connections[ConnectionID(number)] else { return true }
    // The answer to our close frame; otherwise libwebsockets answers the peer's.
    if case .silent = connection.phase { return true }
    // What follows is not to end the connection before our answer is out, though it may be no frame at all.
    connection.socket?.setReading(false)
    silence(connection)
    return false
  }

  func ending(number: UInt64) {
    guard let connection = connections[ConnectionID(number)] else { return }
    guard !connection.isSilent else {
      // Nothing of libwebsockets' own may follow our close frame.
      connection.socket?.endWriting()
      return
    }
    // RFC 6455 §7.1.1: the server ends first. The peer's answer may come to nothing, in the midst of a bad frame.
    connection.endsAfterClose = true
    if connection.mayBeBuffered {
      // libwebsockets would look once more at what it has kept, take that for another fault, and end the connection
      // before its close frame is out.
      connection.socket?.setReading(false)
    }
    silence(connection)
  }

  /// Nothing may be written any more, and nothing is heard.
  private func silence(_ connection: Connection) {
    connection.phase = .silent
    // RFC 6455 §5.5.1: what follows a close frame counts for nothing.
    connection.isHeard = false
    connection.incoming = []
    connection.outbox.removeAll()
    backlog.beginLeaving(connection)
    countWaiting(connection)
    watch(.farewell(connection.id), afterMilliseconds: Self.farewellMilliseconds)
  }

  func writeable(number: UInt64) -> Bool {
    guard let connection = connections[ConnectionID(number)] else { return true }
    // The close frame of libwebsockets is out.
    if connection.endsAfterClose { connection.socket?.endWriting() }
    guard connection.flush(by: single) else {
      connection.phase = .silent
      return false
    }
    countWaiting(connection)
    return true
  }

  func closed(number: UInt64) {
    guard let connection = connections[ConnectionID(number)], connection.socket != nil else {
      return
    }
    if let relay = connection.socket?.relay { part(relay) }
    connection.socket = nil
    connection.phase = .silent
    // RFC 6455 §5.5.1: what follows a close frame counts for nothing.
    connection.isHeard = false
    connection.incoming = []
    connection.outbox.removeAll()
    countWaiting(connection)
    leaveAll(connection)
    for event in connection.unpause() { emit(event) }
    emit(.closed(connection.id))
  }
}
