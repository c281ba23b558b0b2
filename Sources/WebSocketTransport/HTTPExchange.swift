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
  private var head: HTTPHead?
  private var body: HTTPBody?
  /// Bytes of `stream.input` in which no end of a head was found.
  private var searched = 0
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
    while phase == .reading {
      guard head != nil || readHead() else { return }
      guard phase == .reading, let head, var body else { return }
      let progress = body.take(from: &stream.input)
      self.body = body
      switch progress {
      case .incomplete: return
      case .whole:
        self.head = nil
        self.body = nil
        phase = .waiting
        due = nil
        isLast = !head.isKeptAlive
        answersHead = head.method == "HEAD"
        owner.requested(head, body: body.bytes, by: self)
      case .tooLong: refuse(Self.tooLong(bytesMax: owner.options.bodyBytesMax))
      case .malformed: refuse(HTTPReply.plain(400, "The chunks of the body are malformed."))
      }
    }
  }

  private var answersHead = false

  /// Whether a head is there now.
  private func readHead() -> Bool {
    guard !stream.input.isEmpty else { return false }
    switch HTTPHead.parse(stream.input, searched: searched) {
    case .incomplete:
      searched = stream.input.count
      return false
    case .malformed(let status, let words):
      refuse(HTTPReply.plain(status, words))
      return false
    case .complete(let head, let length):
      searched = 0
      stream.input.removeFirst(length)
      answersHead = head.method == "HEAD"
      guard !upgrade(head) else { return false }
      guard let body = HTTPBody(of: head, bytesMax: owner.options.bodyBytesMax) else {
        refuse(Self.tooLong(bytesMax: owner.options.bodyBytesMax))
        return false
      }
      self.head = head
      self.body = body
      if head.expectsContinue, !body.isWhole, stream.input.isEmpty { sayContinue() }
      return true
    }
  }

  private static func tooLong(bytesMax: Int) -> HTTPResponse {
    HTTPReply.refusal(
      413, code: "badRequest", "the body is over \(bytesMax) bytes", isRetryable: false)
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
