extension ServiceLoop: HTTPExchangeOwner {
  func accepted(_ stream: TCPStream) {
    // Beyond this there would be no descriptor left for a file; such a peer is not even read.
    guard !isStopping, connections.count + exchanges.count < socketsMax else {
      return stream.close()
    }
    stream.tune(sendBufferBytes: Self.sendBufferBytes)
    exchangeSerial += 1
    let exchange = HTTPExchange(stream, number: exchangeSerial, owner: self)
    exchanges[exchange.number] = exchange
    hurry(exchange)
  }

  func requested(_ head: HTTPHead, body: [UInt8], by exchange: HTTPExchange) {
    guard HTTPReply.methods.contains(head.method) else {
      return exchange.answer(
        HTTPReply.unknownMethod(head.method == "CONNECT" || head.method == "TRACE" ? 405 : 501))
    }
    guard let segments = head.segments else {
      return exchange.answer(HTTPReply.plain(400, "The path is not percent-encoded UTF-8."))
    }
    guard let service = segments.first, options.servicePaths.contains(service) else {
      return exchange.answer(
        StaticFiles.answer(head, segments: segments, files: options.staticFiles))
    }
    guard let query = QueryString.decode(head.query) else {
      return exchange.answer(HTTPReply.plain(400, "The query is not UTF-8."))
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
          peerAddress: exchange.peerAddress)))
  }

  func upgraded(
    _ exchange: HTTPExchange, _ handshake: Handshake, key: String, subprotocol: String?
  ) {
    exchanges[exchange.number] = nil
    let ahead = exchange.stream.input
    guard let descriptor = exchange.stream.release() else { return }
    adopting = handshake
    webSockets.adopt(descriptor, key: key, subprotocol: subprotocol, ahead: ahead)
    adopting = nil
  }

  func hurry(_ exchange: HTTPExchange) {
    let isWatched = exchange.isWatched
    exchange.setDue(eventLoop.nowMilliseconds + Self.patienceMilliseconds)
    guard !isWatched else { return }
    exchange.isWatched = true
    watch(.exchange(exchange.number), afterMilliseconds: Self.patienceMilliseconds)
  }

  /// One entry an exchange waits among the deadlines; it is moved on when it comes up too early.
  func lookForProgress(_ exchange: HTTPExchange) {
    exchange.isWatched = false
    guard let due = exchange.due else { return }
    let now = eventLoop.nowMilliseconds
    if due <= now { return exchange.overdue() }
    exchange.isWatched = true
    watch(.exchange(exchange.number), afterMilliseconds: due - now)
  }

  func ended(_ exchange: HTTPExchange) {
    exchanges[exchange.number] = nil
    if let request = exchange.request { requests[request] = nil }
  }
}
