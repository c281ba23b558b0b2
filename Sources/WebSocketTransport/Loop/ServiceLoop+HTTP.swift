extension ServiceLoop: HTTPExchangeOwner {
  func accepted(_ descriptor: CInt, from peer: IPAddress) {
    counters.acceptedCount += 1
    let socket = SocketStream(eventLoop, descriptor: descriptor)
    let place = addresses.take(for: peer)
    guard isTakenUp(place), let stream = stream(on: socket) else {
      addresses.giveBack(place)
      return socket.close()
    }
    exchangeSerial += 1
    let exchange = HTTPExchange(
      stream, number: exchangeSerial, peer: peer, place: place, owner: self)
    exchanges[exchange.number] = exchange
    exchange.begin()
    // Who has said all has been dealt with. Who is told to go on with a body has said a part only.
    guard exchange.isPeersTurn, exchange.due == nil else { return }
    hurry(exchange, withinMilliseconds: options.handshakeMilliseconds)
  }

  /// Whether a new connection is read at all.
  private func isTakenUp(_ place: AddressCounts.Place?) -> Bool {
    guard !isStopping else { return false }
    guard !addresses.isFarTooMany(place) else {
      count(.tooManyOfAddress)
      return false
    }
    guard isFull else { return true }
    count(.tooManyRequests)
    guard let longest = longestWaiting else { return false }
    longest.giveWay()
    return true
  }

  /// Beyond this there would be no descriptor left for a file.
  private var isFull: Bool {
    exchanges.count >= room.httpMax || descriptorsUsed >= room.descriptorsMax
  }

  /// Whether the next one is accepted now. When all come back at once after a restart, those whose handshake is
  /// under way are not thrown out for the next: it waits until they are through, or were given their time.
  func hasRoomForOneMore() -> Bool {
    guard isFull, !isStopping, longestWaiting == nil,
      exchanges.values.contains(where: \.isReading)
    else { return true }
    watchAcceptance()
    return false
  }

  /// Sees to it that a turn comes which looks for room.
  func watchAcceptance() {
    guard !isAcceptanceWatched else { return }
    isAcceptanceWatched = true
    watch(.acceptance, afterMilliseconds: HTTPExchange.graceMilliseconds / 4)
  }

  private func stream(on socket: SocketStream) -> (any ByteStream)? {
    guard let tls else { return socket }
    return tls.session().map { TLSStream(socket, session: $0) }
  }

  /// The connection that has waited longest for its peer, of those that were given their time.
  private var longestWaiting: HTTPExchange? {
    let now = eventLoop.nowMilliseconds
    return exchanges.values.lazy.filter { $0.mayGiveWay(atMilliseconds: now) }
      .min { ($0.due ?? .max, $0.number) < ($1.due ?? .max, $1.number) }
  }

  func requested(_ head: HTTPHead, body: [UInt8], by exchange: HTTPExchange) {
    guard HTTPReply.methods.contains(head.method) else {
      return exchange.answer(
        HTTPReply.unknownMethod(head.method == "CONNECT" || head.method == "TRACE" ? 405 : 501))
    }
    // RFC 9110 §9.3.7: about the server as a whole. Those who watch over servers ask so.
    if head.method == "OPTIONS", head.path == [UInt8(ascii: "*")] {
      return exchange.answer(HTTPReply.allowing(HTTPReply.methods))
    }
    let isForService = head.firstSegment.map(options.servicePaths.contains) ?? false
    guard let segments = head.segments else {
      return exchange.answer(unreadable("the path is not percent-encoded UTF-8", isForService))
    }
    guard isForService else {
      // What may be asked of a file is no secret, and whoever asks that may know the server by any name.
      let refusal = head.method == "OPTIONS" ? nil : options.fileAdmission(head.headersKept)
      return exchange.answer(
        refusal
          ?? StaticFiles.answer(head, segments: segments, files: options.staticFiles))
    }
    guard let query = QueryString.decode(head.query) else {
      return exchange.answer(unreadable("the query is not UTF-8", isForService))
    }
    requestSerial += 1
    let id = RequestID(requestSerial)
    exchange.request = id
    requests[id] = exchange
    emit(
      .requested(
        id,
        HTTPRequest(
          method: head.method, path: segments, query: query, headers: head.headersKept, body: body,
          peerAddress: exchange.clientAddress(of: head))))
  }

  /// Who asked a service is answered in its shape.
  private func unreadable(_ why: String, _ isForService: Bool) -> HTTPResponse {
    isForService
      ? HTTPReply.refusal(400, code: "badRequest", why, isRetryable: false)
      : HTTPReply.plain(400, "\(why.prefix(1).uppercased())\(why.dropFirst()).")
  }

  func upgraded(
    _ exchange: HTTPExchange, _ handshake: Handshake, key: String, subprotocol: String?
  ) {
    forget(exchange)
    let ahead = exchange.stream.input
    exchange.stream.input = []
    guard let adoption = handOver(exchange, handshake, hasAhead: !ahead.isEmpty) else {
      return exchange.stream.close()
    }
    adopting = adoption
    webSockets.adopt(
      adoption.descriptor, key: key, subprotocol: subprotocol, ahead: ahead, relay: adoption.relay)
    guard adopting != nil else { return }
    // libwebsockets did not want it, and has closed the descriptor.
    adopting = nil
    adoption.relay?.close()
  }

  /// The descriptor for libwebsockets; nil when there are none left.
  private func handOver(
    _ exchange: HTTPExchange, _ handshake: Handshake, hasAhead: Bool
  ) -> Adoption? {
    switch exchange.stream {
    case let socket as SocketStream:
      return socket.release().map {
        Adoption(handshake: handshake, descriptor: $0, relay: nil, hasAhead: hasAhead)
      }
    case let stream as TLSStream:
      return relay(stream, number: exchange.number).map {
        Adoption(
          handshake: handshake, descriptor: $0.descriptor, relay: $0.relay, hasAhead: hasAhead)
      }
    default: return nil
    }
  }

  func hurry(_ exchange: HTTPExchange, withinMilliseconds patience: UInt64) {
    let isWatched = exchange.isWatched
    let isSooner = exchange.due.map { eventLoop.nowMilliseconds + patience < $0 } ?? false
    exchange.setDue(eventLoop.nowMilliseconds + patience)
    guard !isWatched || isSooner else { return }
    exchange.isWatched = true
    watch(.exchange(exchange.number), afterMilliseconds: patience)
  }

  /// An entry waits among the deadlines; it is moved on when it comes up too early.
  func lookForProgress(_ exchange: HTTPExchange) {
    exchange.isWatched = false
    guard let due = exchange.due else { return }
    let now = eventLoop.nowMilliseconds
    if due <= now {
      guard exchange.makesProgress() else { return exchange.overdue() }
      return hurry(exchange, withinMilliseconds: options.handshakeMilliseconds)
    }
    exchange.isWatched = true
    watch(.exchange(exchange.number), afterMilliseconds: due - now)
  }

  func count(_ refusal: TransportRefusal, isTold: Bool) {
    counters.count(refusal)
    if isTold { options.refused(refusal) }
  }

  func ended(_ exchange: HTTPExchange) {
    forget(exchange)
    if let request = exchange.request { requests[request] = nil }
  }

  private func forget(_ exchange: HTTPExchange) {
    exchanges[exchange.number] = nil
    addresses.giveBack(exchange.place)
  }
}

/// A handshake on its way to libwebsockets, with the socket for it.
struct Adoption {
  let handshake: Handshake
  let descriptor: CInt
  let relay: TLSRelay?
  /// Whether the client sent more with its handshake.
  let hasAhead: Bool
}
