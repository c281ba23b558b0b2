extension ServiceLoop: HTTPExchangeOwner {
  func accepted(_ descriptor: CInt, from peer: IPAddress) {
    counters.acceptedCount += 1
    let socket = SocketStream(eventLoop, descriptor: descriptor)
    let addressSlot = addresses.acquireSlot(for: peer)
    guard makeRoom(for: addressSlot), let stream = stream(on: socket) else {
      addresses.releaseSlot(addressSlot)
      return socket.close()
    }
    exchangeSerial += 1
    let exchange = HTTPExchange(
      stream, number: exchangeSerial, peer: peer, addressSlot: addressSlot, owner: self)
    exchanges[exchange.number] = exchange
    exchange.start()
    // A connection that has sent its whole request already needs no timeout. One that was sent 100 Continue has one.
    guard exchange.isWaitingForPeer, exchange.due == nil else { return }
    armTimeout(exchange, afterMilliseconds: options.handshakeMilliseconds)
  }

  /// Returns whether a new connection is read at all.
  private func makeRoom(for addressSlot: AddressCounts.Slot?) -> Bool {
    guard !isStopping else { return false }
    guard !addresses.isFarOverLimit(addressSlot) else {
      count(.tooManyPerAddress)
      return false
    }
    guard isFull else { return true }
    count(.tooManyHTTPConnections)
    guard let candidate = evictionCandidate else { return false }
    candidate.evict()
    return true
  }

  /// Beyond this there would be no descriptor left for a file.
  private var isFull: Bool {
    exchanges.count >= descriptorLimits.httpMax
      || descriptorsUsed >= descriptorLimits.descriptorsMax
  }

  /// Decides whether to accept the next connection, and arms a check if not. When all clients reconnect after a
  /// restart, handshakes in progress are not evicted for new ones: accepting pauses until they finish or time out.
  func prepareToAccept() -> Bool {
    guard isFull, !isStopping, evictionCandidate == nil,
      exchanges.values.contains(where: \.isReading)
    else { return true }
    armAcceptCheck()
    return false
  }

  /// Schedules an iteration that checks for room.
  func armAcceptCheck() {
    guard !isAcceptCheckArmed else { return }
    isAcceptCheckArmed = true
    armDeadline(.acceptCheck, afterMilliseconds: HTTPExchange.graceMilliseconds / 4)
  }

  private func stream(on socket: SocketStream) -> (any ByteStream)? {
    guard let tls else { return socket }
    return tls.session().map { TLSStream(socket, session: $0) }
  }

  /// The connection that has waited for its peer the longest, among those whose grace period is over.
  private var evictionCandidate: HTTPExchange? {
    let now = eventLoop.nowMilliseconds
    return exchanges.values.lazy.filter { $0.isEvictable(atMilliseconds: now) }
      .min { ($0.due ?? .max, $0.number) < ($1.due ?? .max, $1.number) }
  }

  func requested(_ head: HTTPHead, body: [UInt8], by exchange: HTTPExchange) {
    guard HTTPReply.methods.contains(head.method) else {
      return exchange.answer(
        HTTPReply.unknownMethod(head.method == "CONNECT" || head.method == "TRACE" ? 405 : 501))
    }
    // RFC 9110 §9.3.7: this is about the server as a whole. Monitoring sends it.
    if head.method == "OPTIONS", head.path == [UInt8(ascii: "*")] {
      return exchange.answer(HTTPReply.allowing(HTTPReply.methods))
    }
    let isForService = head.firstSegment.map(options.servicePaths.contains) ?? false
    guard let segments = head.segments else {
      return exchange.answer(unreadable("the path is not percent-encoded UTF-8", isForService))
    }
    guard isForService else {
      // The methods of a file are no secret, and a monitor may send OPTIONS to any name of the server.
      let refusal = head.method == "OPTIONS" ? nil : options.fileAdmission(head.headersKept)
      return exchange.answer(
        refusal
          ?? StaticFiles.answer(head, segments: segments, files: options.staticFiles))
    }
    guard let query = QueryString.decode(head.query) else {
      return exchange.answer(unreadable("the query is not UTF-8", isForService))
    }
    requestSerial += 1
    let id = HTTPRequestID(requestSerial)
    exchange.request = id
    requests[id] = exchange
    emit(
      .requested(
        id,
        HTTPRequest(
          method: head.method, path: segments, query: query, headers: head.headersKept, body: body,
          peerAddress: exchange.clientAddress(of: head))))
  }

  /// A request to a service gets its error in the service's format.
  private func unreadable(_ why: String, _ isForService: Bool) -> HTTPResponse {
    let refusal = ServiceRefusal.unreadable(why)
    return isForService ? options.serviceRefusal(refusal) : refusal.plainResponse
  }

  func upgraded(
    _ exchange: HTTPExchange, _ handshake: Handshake, key: String, subprotocol: String?
  ) {
    forget(exchange)
    let pipelinedInput = exchange.stream.input
    exchange.stream.input = []
    guard
      let adoption = makeAdoption(exchange, handshake, hasPipelinedInput: !pipelinedInput.isEmpty)
    else {
      return exchange.stream.close()
    }
    pendingAdoption = adoption
    webSockets.adopt(
      adoption.descriptor, key: key, subprotocol: subprotocol, pipelinedInput: pipelinedInput,
      relay: adoption.relay)
    guard pendingAdoption != nil else { return }
    // libwebsockets did not want it, and has closed the descriptor.
    pendingAdoption = nil
    adoption.relay?.close()
  }

  /// The descriptor for libwebsockets; nil when there are none left.
  private func makeAdoption(
    _ exchange: HTTPExchange, _ handshake: Handshake, hasPipelinedInput: Bool
  ) -> Adoption? {
    switch exchange.stream {
    case let socket as SocketStream:
      return socket.release().map {
        Adoption(
          handshake: handshake, descriptor: $0, relay: nil, hasPipelinedInput: hasPipelinedInput)
      }
    case let stream as TLSStream:
      return relay(stream, number: exchange.number).map {
        Adoption(
          handshake: handshake, descriptor: $0.descriptor, relay: $0.relay,
          hasPipelinedInput: hasPipelinedInput)
      }
    default: return nil
    }
  }

  func armTimeout(_ exchange: HTTPExchange, afterMilliseconds timeout: UInt64) {
    let isDeadlineArmed = exchange.isDeadlineArmed
    let isSooner = exchange.due.map { eventLoop.nowMilliseconds + timeout < $0 } ?? false
    exchange.setDue(eventLoop.nowMilliseconds + timeout)
    guard !isDeadlineArmed || isSooner else { return }
    exchange.isDeadlineArmed = true
    armDeadline(.httpTimeout(exchange.number), afterMilliseconds: timeout)
  }

  /// An entry waits among the deadlines; it is moved on when it comes up too early.
  func checkTimeout(_ exchange: HTTPExchange) {
    exchange.isDeadlineArmed = false
    guard let due = exchange.due else { return }
    let now = eventLoop.nowMilliseconds
    if due <= now {
      guard exchange.recordProgress() else { return exchange.timeOut() }
      return armTimeout(exchange, afterMilliseconds: options.handshakeMilliseconds)
    }
    exchange.isDeadlineArmed = true
    armDeadline(.httpTimeout(exchange.number), afterMilliseconds: due - now)
  }

  func count(_ refusal: TransportRefusal, isReported: Bool) {
    counters.count(refusal)
    if isReported { options.refused(refusal) }
  }

  func ended(_ exchange: HTTPExchange) {
    forget(exchange)
    if let request = exchange.request { requests[request] = nil }
  }

  private func forget(_ exchange: HTTPExchange) {
    exchanges[exchange.number] = nil
    addresses.releaseSlot(exchange.addressSlot)
  }
}

/// A handshake on its way to libwebsockets, with the socket for it.
struct Adoption {
  let handshake: Handshake
  let descriptor: CInt
  let relay: TLSRelay?
  /// True if the client sent more bytes behind its handshake.
  let hasPipelinedInput: Bool
}
