/// What an HTTP connection asks of its loop.
protocol HTTPExchangeOwner: AnyObject {
  var options: TransportOptions { get }
  /// A whole request; owes one `HTTPExchange.answer`.
  func requested(_ head: HTTPHead, body: [UInt8], by exchange: HTTPExchange)
  /// The connection is to become a WebSocket; the exchange has ended.
  func upgraded(_ exchange: HTTPExchange, _ handshake: Handshake, key: String, subprotocol: String?)
  /// Something is to be finished within the usual patience from now.
  func hurry(_ exchange: HTTPExchange)
  /// The connection is gone.
  func ended(_ exchange: HTTPExchange)
}

/// One HTTP/1.1 connection: requests one after another, each answered before the next is read.
final class HTTPExchange {
  private enum Phase {
    case reading
    /// The request is with the server.
    case waiting
    case writing
    /// All is said; what the peer still sends is passed over, so that its kernel does not throw away our
    /// answer before it was read.
    case parting
    case ended
  }

  let number: UInt64
  let stream: TCPStream
  let peerAddress: String
  private unowned let owner: any HTTPExchangeOwner
  private var phase = Phase.reading
  private let parser: HTTPParser
  private var head: HTTPHead?
  /// Whether the answer under way is the last on this connection.
  private var isLast = false
  private var isPeerDone = false
  private var isStopping = false
  /// When patience ends; nil while the server has its time.
  private(set) var due: UInt64?
  /// The request that the server has.
  var request: RequestID?

  init(_ stream: TCPStream, number: UInt64, owner: any HTTPExchangeOwner) {
    self.stream = stream
    self.number = number
    self.owner = owner
    parser = HTTPParser(bodyBytesMax: owner.options.bodyBytesMax)
    peerAddress = stream.peerAddress
    stream.arrived = { [unowned self] in arrived() }
    stream.ended = { [unowned self] isBroken in streamEnded(isBroken) }
    stream.resumeReading()
  }

  /// Ends in `phase == .ended`; the owner forgets the exchange.
  private func end() {
    guard phase != .ended else { return }
    phase = .ended
    stream.close()
    owner.ended(self)
  }

  /// Whether an entry among the owner's deadlines stands for this exchange.
  var isWatched = false

  func setDue(_ due: UInt64) { self.due = due }

  /// Patience is over.
  func overdue() { end() }

  /// The server stops: an open request is answered, the rest is closed.
  func stop() {
    isStopping = true
    switch phase {
    case .reading: end()
    case .waiting:
      answer(
        HTTPReply.refusal(503, code: "shuttingDown", "the server is stopping", isRetryable: true))
    case .writing, .parting, .ended: break
    }
  }

  private func arrived() {
    switch phase {
    case .reading: advance()
    case .parting: stream.input.removeAll(keepingCapacity: true)
    // Requests that were sent ahead wait, within limits.
    case .waiting, .writing: if stream.input.count > 2 * HTTPHead.bytesMax { stream.pauseReading() }
    case .ended: break
    }
  }

  private func streamEnded(_ isBroken: Bool) {
    isPeerDone = true
    // A peer that only stopped sending still gets its answer.
    if isBroken || phase == .reading || phase == .parting { end() }
  }

  private func advance() {
    while phase == .reading, !stream.input.isEmpty {
      parser.take(from: &stream.input)
      do throws(HTTPRefusal) { try look() } catch { refuse(error.response) }
    }
  }

  private var answersHead = false

  /// Looks at what has been read of a request.
  private func look() throws(HTTPRefusal) {
    let isNew = head == nil && parser.isHeadWhole
    if isNew {
      let head = try HTTPHead(parser)
      self.head = head
      answersHead = head.method == "HEAD"
    }
    try parser.check()
    guard let head else { return }
    guard parser.isWhole else {
      if isNew, head.expectsContinue, parser.body.isEmpty, stream.input.isEmpty { sayContinue() }
      return
    }
    let body = parser.body
    parser.restart()
    self.head = nil
    guard !upgrade(head) else { return }
    phase = .waiting
    due = nil
    isLast = !head.isKeptAlive
    owner.requested(head, body: body, by: self)
  }

  /// Whether this request was for the WebSocket, and is dealt with.
  private func upgrade(_ head: HTTPHead) -> Bool {
    guard head.path.elementsEqual(owner.options.webSocketPath.utf8) else {
      guard head.wantsWebSocket else { return false }
      refuse(
        HTTPReply.plain(404, "The WebSocket is at \(owner.options.webSocketPath).")
      )
      return true
    }
    switch HandshakeCheck.examine(head, peerAddress: peerAddress, options: owner.options) {
    case .refused(let response): refuse(response)
    case .accepted(let handshake, let key, let subprotocol):
      phase = .ended
      owner.upgraded(self, handshake, key: key, subprotocol: subprotocol)
    }
    return true
  }

  private func sayContinue() {
    phase = .writing
    stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { [unowned self] isSent in
      guard phase == .writing else { return }
      guard isSent else { return end() }
      phase = .reading
      advance()
    }
  }

  /// Answers and parts.
  private func refuse(_ response: HTTPResponse) {
    phase = .waiting
    isLast = true
    answer(response)
  }

  func answer(_ response: HTTPResponse) {
    guard phase == .waiting else { return }
    phase = .writing
    request = nil
    isLast = isLast || isStopping || isPeerDone
    owner.hurry(self)
    let bytes = HTTPReply.bytes(
      of: response, commonHeaders: owner.options.commonHeaders, isHead: answersHead, isLast: isLast)
    stream.write(bytes) { [unowned self] isSent in
      guard phase == .writing else { return }
      guard isSent, !isPeerDone else { return end() }
      isLast || isStopping ? part() : next()
    }
  }

  private func next() {
    phase = .reading
    owner.hurry(self)
    stream.resumeReading()
    advance()
  }

  private func part() {
    phase = .parting
    stream.input = []
    owner.hurry(self)
    stream.endWriting()
    stream.resumeReading()
  }
}
