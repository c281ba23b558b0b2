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
  /// This is the hot loop of the server: its code runs for every message and every client. Each frame is encoded once,
  /// header included. A connection with nothing waiting gets the frame in one `send`, together with adjacent frames
  /// that are for it too. Nothing in here may allocate, look up a table or ask libwebsockets for more than whether it
  /// is backed up.
  func broadcast(_ broadcasts: ArraySlice<TransportAction>) {
    frames.removeAll()
    for case .broadcast(let frame, let id) in broadcasts {
      guard let group = groups[id] else { continue }
      let number = frames.count
      frames.append(frame)
      let range = frames.byteRange(of: number..<number + 1)
      let isAlone = broadcasts.count == 1
      for connection in group.members {
        // This connection was checked for the previous frame already.
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
    closeSlowReader(connection, reason: "reads too slowly", isBroadcasting: isBroadcasting)
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

  /// Starts to close a connection: sends what is queued, then the close frame, and waits a while for the peer's answer.
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
    // When the server stops, the drain limits the wait for all connections.
    if !isStopping {
      armDeadline(.closeTimeout(connection.id), afterMilliseconds: Self.closeTimeoutMilliseconds)
    }
    // A tail that libwebsockets holds is sent first; the writeable callback comes when there is room.
    guard let socket = connection.socket else { return }
    if connection.outbox.isEmpty {
      connection.phase = .closeSent
      _ = socket.writeClose(code, reason: reason)
    } else {
      socket.requestWriteable()
    }
  }

  /// Drops a connection without a close frame. Must not be called from within libwebsockets.
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
      case .acceptCheck: isAcceptCheckArmed = false  // The next iteration checks.
      case .relayLinger(let number): if let relay = relays[number] { checkLinger(relay) }
      }
    }
    setDeadlineTimer()
  }

  var pingMilliseconds: UInt64 { UInt64(min(max(0.01, options.pingSeconds), 1e9) * 1_000) }

  /// Any byte is a sign of life, including the peer's own pings, which libwebsockets does not report: so the kernel is
  /// asked. Its clock is too coarse to tell a pong from what came just before it, so a pong also clears
  /// `isPingOutstanding`.
  private func checkLiveness(_ connection: Connection) {
    guard let socket = connection.socket, connection.isOpen else { return }
    // A connection that isn't being read can't show signs of life.
    let silence = connection.isReading ? socket.silenceMilliseconds : 0
    if silence < pingMilliseconds {
      connection.isPingOutstanding = false
      armDeadline(.liveness(connection.id), afterMilliseconds: pingMilliseconds - silence)
    } else if !connection.isPingOutstanding {
      connection.isPingOutstanding = true
      guard socket.writePing() else { return drop(connection) }
      armDeadline(.liveness(connection.id), afterMilliseconds: pingMilliseconds)
    } else {
      options.log(.debug, "connection \(connection.id.number) did not answer a ping and is dropped")
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
    let refusal = refusal(of: addressSlot, after: contribution.addWebSocket(to: connections.count))
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
    if isStopping { return (.goingAway, "the server is stopping") }
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
      return refuse(connection, .unsupportedData, reason: "messages must be text")
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
    guard isBinary || !isOfPieces || String(validating: connection.incoming, as: UTF8.self) != nil
    else {
      return refuse(connection, .invalidPayload, reason: "messages must be UTF-8")
    }
    connection.waitsForWriteable = isOfPieces
    let message = connection.incoming
    connection.incoming = []
    emit(isBinary ? .receivedBinary(connection.id, message) : .received(connection.id, message))
  }

  func receivedPong(number: UInt64) { connections[ConnectionID(number)]?.isPingOutstanding = false }

  /// Closes a connection for a bad message. Earlier messages stay valid; later input is discarded.
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
    // Further input must not end the connection before our close frame is sent, even if it is no valid frame.
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
      // Otherwise libwebsockets would parse its buffered input again, take it for another fault, and end the connection
      // before its close frame is sent.
      connection.socket?.setReading(false)
    }
    enterCloseSent(connection)
  }

  /// Stops input and output of a connection whose close frame is sent or about to be.
  private func enterCloseSent(_ connection: Connection) {
    connection.phase = .closeSent
    // RFC 6455 §5.5.1: data after a close frame is discarded.
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
    // RFC 6455 §5.5.1: data after a close frame is discarded.
    connection.acceptsInput = false
    connection.incoming = []
    connection.outbox.removeAll()
    updateBacklog(connection)
    leaveAll(connection)
    for event in connection.resumeFromBacklog() { emit(event) }
    emit(.closed(connection.id))
  }
}
