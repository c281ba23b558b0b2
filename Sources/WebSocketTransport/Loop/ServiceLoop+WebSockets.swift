extension ServiceLoop {
  func send(_ frame: Frame, to id: ConnectionID) {
    guard let connection = connections[id], connection.isOpen else { return }
    guard connection.canSendNow else { return queue(frame, for: connection) }
    singleFrame.removeAll()
    singleFrame.append(frame)
    if !connection.send(singleFrame.byteRange(of: 0..<1), of: singleFrame) { drop(connection) }
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
        if !connection.canSendNow {
          queue(frame, for: connection, isBroadcasting: true)
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
    while let connection = broken.popLast() { removeBroken(connection) }
  }

  /// Frames that are not neighbours go out by themselves; after that the socket may be full.
  private func sendGathered(_ connection: Connection) {
    guard !connection.gathered.isEmpty else { return }
    let range = frames.byteRange(of: connection.gathered)
    connection.gathered = 0..<0
    if !connection.send(range, of: frames) { broken.append(connection) }
  }

  private func removeBroken(_ connection: Connection) {
    leaveAll(connection)
    if connection.isOpen { drop(connection) }
  }

  private func queue(_ frame: Frame, for connection: Connection, isBroadcasting: Bool = false) {
    if connection.outbox.isEmpty { connection.socket?.requestWriteable() }
    connection.outbox.append(frame)
    updateBacklog(connection)
    guard connection.isTooFarBehind(bytesMax: options.unsentBytesMax) else { return }
    options.log(.debug, "connection \(connection.id.number) reads too slowly and is closed")
    count(.slowWebSocket)
    closeSlowReader(connection, reason: "too slow a reader", isBroadcasting: isBroadcasting)
  }

  /// Closes a connection for which too much waits, and keeps nothing of it but what libwebsockets has.
  func closeSlowReader(_ connection: Connection, reason: String, isBroadcasting: Bool = false) {
    connection.outbox.removeAll()
    connection.isClosedByServer = true
    startClosing(connection, .tryAgainLater, reason: reason)
    if isBroadcasting { broken.append(connection) } else { leaveAll(connection) }
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
    connection.isClosedByServer = true
    startClosing(connection, code, reason: reason)
    leaveAll(connection)
  }

  private func startClosing(_ connection: Connection, _ code: CloseCode, reason: String) {
    connection.acceptsInput = false
    connection.phase = .closing(code, reason: reason)
    connection.resumeReading()
    for event in connection.resumeFromBacklog() { emit(event) }
    backlog.beginClosing(connection)
    updateBacklog(connection)
    // At the stop each has all of the drain.
    if !isStopping {
      armDeadline(.closeTimeout(connection.id), afterMilliseconds: Self.closeTimeoutMilliseconds)
    }
    // A tail that libwebsockets holds goes first; its room is what the writeable callback tells of.
    guard let socket = connection.socket else { return }
    if connection.outbox.isEmpty {
      connection.phase = .closeSent
      _ = socket.writeClose(code, reason: reason)
    } else {
      socket.requestWriteable()
    }
  }

  /// Drops a connection without a word; not from within libwebsockets.
  func drop(_ connection: Connection) {
    connection.phase = .closeSent
    connection.socket?.kill()
  }

  // MARK: Deadlines

  func armDeadline(_ subject: Deadlines.Subject, afterMilliseconds delay: UInt64) {
    deadlines.add(subject, atMilliseconds: eventLoop.nowMilliseconds + delay)
    setDeadlineTimer()
  }

  private func setDeadlineTimer() {
    guard let due = deadlines.earliest, due != deadlineSet else { return }
    deadlineSet = due
    deadlineTimer?.set(atMilliseconds: due)
  }

  func checkDeadlines() {
    deadlineSet = nil
    let now = eventLoop.nowMilliseconds
    while let subject = deadlines.popDue(atMilliseconds: now) {
      switch subject {
      case .liveness(let id): if let connection = connections[id] { checkLiveness(connection) }
      case .closeTimeout(let id): if let connection = connections[id] { drop(connection) }
      case .httpTimeout(let number): if let exchange = exchanges[number] { checkTimeout(exchange) }
      case .backlogCheck: checkBacklog()
      case .acceptCheck: isAcceptCheckArmed = false  // The next turn looks.
      case .relayLinger(let number): if let relay = relays[number] { checkLinger(relay) }
      }
    }
    setDeadlineTimer()
  }

  var pingMilliseconds: UInt64 { UInt64(min(max(0.01, options.pingSeconds), 1e9) * 1_000) }

  /// Any byte counts as life, also the peer's own pings, which libwebsockets does not tell of: so the
  /// kernel is asked. Its clock is too coarse to tell an answer to our ping from what came just before
  /// it; so an answer also clears `isPingOutstanding`.
  private func checkLiveness(_ connection: Connection) {
    guard let socket = connection.socket, connection.isOpen else { return }
    // Who is not read can't be heard.
    let silence = connection.isReading ? socket.silenceMilliseconds : 0
    if silence < pingMilliseconds {
      connection.isPingOutstanding = false
      armDeadline(.liveness(connection.id), afterMilliseconds: pingMilliseconds - silence)
    } else if !connection.isPingOutstanding {
      connection.isPingOutstanding = true
      guard socket.writePing() else { return drop(connection) }
      armDeadline(.liveness(connection.id), afterMilliseconds: pingMilliseconds)
    } else {
      options.log(.debug, "connection \(connection.id.number) is silent and is dropped")
      count(.pingTimeout)
      drop(connection)
    }
  }
}

extension ServiceLoop: WebSocketListener {
  func established(_ socket: WebSocket) -> UInt64 {
    guard let adoption = pendingAdoption else { return 0 }
    pendingAdoption = nil
    let (handshake, hasPipelinedInput) = (adoption.handshake, adoption.hasPipelinedInput)
    let addressSlot = addresses.acquireSlot(for: IPAddress(handshake.peerAddress))
    let refusal = refusal(of: addressSlot, after: census.addWebSocket(to: connections.count))
    let connection = connections.insert {
      Connection(
        $0, socket: socket, addressSlot: addressSlot, isAnnounced: refusal == nil,
        largeFrom: options.unsentBytesMax + 1, fellBehind: fellBehind)
    }
    connection.mayBeBuffered = hasPipelinedInput
    socket.relay?.connection = connection.id
    if let refusal {
      close(connection, refusal.code, reason: refusal.reason)
      socket.uncork()
    } else {
      armDeadline(.liveness(connection.id), afterMilliseconds: pingMilliseconds)
      emit(.opened(connection.id, handshake))
    }
    return connection.id.number
  }

  /// Why one more connection is not let in.
  private func refusal(
    of addressSlot: AddressCounts.Slot?, after earlier: Int
  ) -> (code: CloseCode, reason: String)? {
    if isStopping { return (.goingAway, "the server stops") }
    if addressSlot?.isOverLimit == true {
      count(.tooManyPerAddress)
      return (.tryAgainLater, "too many connections from this address")
    }
    if earlier >= descriptorLimits.webSocketsMax {
      count(.tooManyConnections)
      return (.tryAgainLater, "too many connections")
    }
    return nil
  }

  func received(_ piece: borrowing Span<UInt8>, isBinary: Bool, isLast: Bool, number: UInt64) {
    guard let connection = connections[ConnectionID(number)], connection.acceptsInput else {
      return
    }
    connection.isPingOutstanding = false
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
    connection.waitsForWriteable = isOfPieces
    let message = connection.incoming
    connection.incoming = []
    emit(isBinary ? .receivedBinary(connection.id, message) : .received(connection.id, message))
  }

  func ponged(number: UInt64) { connections[ConnectionID(number)]?.isPingOutstanding = false }

  /// What was received before stays valid; nothing after it is looked at.
  private func refuse(_ connection: Connection, _ code: CloseCode, reason: String) {
    connection.incoming = []
    connection.acceptsInput = false
    connection.outbox.removeAll()
    startClosing(connection, code, reason: reason)
    leaveAll(connection)
  }

  func closingByPeer(number: UInt64) -> Bool {
    guard let connection = connections[ConnectionID(number)] else { return true }
    // The answer to our close frame; otherwise libwebsockets answers the peer's.
    if case .closeSent = connection.phase { return true }
    // What follows is not to end the connection before our answer is out, though it may be no frame at all.
    connection.socket?.setReading(false)
    enterCloseSent(connection)
    return false
  }

  func closingByLibrary(number: UInt64) {
    guard let connection = connections[ConnectionID(number)] else { return }
    guard !connection.isCloseSent else {
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
    enterCloseSent(connection)
  }

  /// Nothing may be written any more, and nothing is heard.
  private func enterCloseSent(_ connection: Connection) {
    connection.phase = .closeSent
    // RFC 6455 §5.5.1: what follows a close frame counts for nothing.
    connection.acceptsInput = false
    connection.incoming = []
    connection.outbox.removeAll()
    backlog.beginClosing(connection)
    updateBacklog(connection)
    armDeadline(.closeTimeout(connection.id), afterMilliseconds: Self.closeTimeoutMilliseconds)
  }

  func writeable(number: UInt64) -> Bool {
    guard let connection = connections[ConnectionID(number)] else { return true }
    // The close frame of libwebsockets is out.
    if connection.endsAfterClose { connection.socket?.endWriting() }
    guard connection.flush(by: singleFrame) else {
      connection.phase = .closeSent
      return false
    }
    updateBacklog(connection)
    return true
  }

  func closed(number: UInt64) {
    guard let connection = connections[ConnectionID(number)], connection.socket != nil else {
      return
    }
    if let relay = connection.socket?.relay { linger(relay) }
    connection.socket = nil
    connection.phase = .closeSent
    // RFC 6455 §5.5.1: what follows a close frame counts for nothing.
    connection.acceptsInput = false
    connection.incoming = []
    connection.outbox.removeAll()
    updateBacklog(connection)
    leaveAll(connection)
    for event in connection.resumeFromBacklog() { emit(event) }
    emit(.closed(connection.id))
  }
}
