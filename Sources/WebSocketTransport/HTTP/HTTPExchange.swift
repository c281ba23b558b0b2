/// The loop's side of an HTTP connection.
protocol HTTPExchangeOwner: AnyObject {
  var options: TransportOptions { get }
  /// A whole request; owes one `HTTPExchange.answer`.
  func requested(_ head: HTTPHead, body: [UInt8], by exchange: HTTPExchange)
  /// The connection is to become a WebSocket; the exchange has ended.
  func upgraded(_ exchange: HTTPExchange, _ handshake: Handshake, key: String, subprotocol: String?)
  /// Something is to be finished within this time from now.
  func armTimeout(_ exchange: HTTPExchange, afterMilliseconds timeout: UInt64)
  /// The number of bytes that wait for the peer has changed.
  func updateBacklog(_ reader: any BacklogReader)
  /// A connection or request was rejected; `isReported` if the operator may want to know.
  func count(_ refusal: TransportRefusal, isReported: Bool)
  /// The connection is gone.
  func ended(_ exchange: HTTPExchange)
}

extension HTTPExchangeOwner {
  func count(_ refusal: TransportRefusal) { count(refusal, isReported: true) }
}

/// One HTTP/1.1 connection: requests one after another, each answered before the next is read.
final class HTTPExchange: BacklogReader {
  private enum Phase {
    case reading
    /// The request is with the server.
    case awaitingResponse
    case writing
    /// The response is sent. Input is discarded for a while (nginx' lingering close), so that the peer's kernel does
    /// not reset the connection before the peer has read the response.
    case lingering
    case ended
  }

  let number: UInt64
  let stream: any ByteStream
  /// Its slot in the count of its address.
  let addressSlot: AddressCounts.Slot?
  private let peer: IPAddress
  private unowned let owner: any HTTPExchangeOwner
  private var phase = Phase.reading
  private let parser: HTTPParser
  private var head: HTTPHead?
  /// True if the connection closes after the current response.
  private var isLast = false
  private var isInputClosed = false
  private var isStopping = false
  private var hasReadRequest = false
  /// The deadline for the peer; nil while the server works on a response.
  private(set) var due: UInt64?
  /// The request that the server has.
  var request: HTTPRequestID?
  var backlogEntry = BacklogEntry()
  /// The peer's progress at the last check; nil while no part of a response waits.
  private var progressBefore: Int64?
  /// True if the current response has had its timeout extended.
  private var isTimeoutExtended = false

  init(
    _ stream: any ByteStream, number: UInt64, peer: IPAddress, addressSlot: AddressCounts.Slot?,
    owner: any HTTPExchangeOwner
  ) {
    self.stream = stream
    self.number = number
    self.peer = peer
    self.addressSlot = addressSlot
    self.owner = owner
    headers = owner.options.commonHeaders
    parser = HTTPParser(
      headBytesMax: owner.options.headBytesMax, bodyBytesMax: owner.options.bodyBytesMax)
    stream.arrived = { [unowned self] in arrived() }
    stream.ended = { [unowned self] isBroken in streamEnded(isBroken) }
  }

  /// Reads what has arrived, which may be the whole request, and keeps reading.
  func start() { stream.resumeReading() }

  /// Ends in `phase == .ended`; the owner forgets the exchange.
  private func end() {
    guard phase != .ended else { return }
    phase = .ended
    stream.close()
    owner.updateBacklog(self)
    owner.ended(self)
  }

  /// Ends it at once, and lets the kernel forget what it holds for the peer.
  func abort() {
    guard phase != .ended else { return }
    stream.abort()
    end()
  }

  var waitingByteCount: Int { phase == .writing ? stream.unsentByteCount : 0 }

  /// Without the kernel's count, the shrinking number of waiting bytes is the only sign of progress.
  var readProgress: Int64 {
    let count = stream.acknowledgedByteCount
    return count >= 0 ? count : -Int64(waitingByteCount)
  }

  /// Returns whether the answer under way is being read, and so is given its time once more.
  func recordProgress() -> Bool {
    guard phase == .writing, let before = progressBefore else { return false }
    let now = readProgress
    progressBefore = now
    isTimeoutExtended = now > before
    return isTimeoutExtended
  }

  /// True if the loop holds a deadline for this exchange.
  var isDeadlineArmed = false

  func setDue(_ due: UInt64) { self.due = due }

  /// The deadline for the peer has passed.
  func timeOut() {
    switch phase {
    case .reading where parser.hasBegun:
      refuse(
        .slowRequest,
        HTTPReply.plain(408, "The request took over \(owner.options.handshakeSeconds) seconds."))
    // A connection that has sent nothing gets no response: browsers open connections ahead of need.
    case .reading where !hasReadRequest:
      owner.count(.slowRequest, isReported: false)
      end()
    case .writing:
      owner.count(.slowReader)
      end()
    default: end()
    }
  }

  /// True if a request is being read.
  var isReading: Bool { phase == .reading }

  /// True if the exchange waits for the peer to send or to read, and not for the server.
  var isWaitingForPeer: Bool { phase != .awaitingResponse && phase != .ended }

  /// Returns whether the peer is waited for, and might be given up for another one: at once when it has had its answer.
  func isEvictable(atMilliseconds now: UInt64) -> Bool {
    switch phase {
    case .lingering: true
    case .reading where hasReadRequest && !parser.hasBegun: true
    case .reading: due.map { now + timeout >= $0 + Self.graceMilliseconds } ?? false
    case .writing: isTimeoutExtended
    case .awaitingResponse, .ended: false
    }
  }

  /// The time during which a request that is being read can't be evicted. The loop checks four times within it.
  static let graceMilliseconds: UInt64 = 1_000

  /// Closes the connection to make room for another one.
  func evict() {
    if phase == .reading, parser.hasBegun {
      let bytes = HTTPReply.bytes(
        of: HTTPReply.busy("There are too many connections."),
        commonHeaders: owner.options.commonHeaders, isHead: isHeadRequest, isLast: true)
      stream.write(bytes) { _ in }
    }
    end()
  }

  /// The server stops: an open request is answered, the rest is closed.
  func stop() {
    isStopping = true
    switch phase {
    case .reading: end()
    case .awaitingResponse:
      answer(owner.options.serviceRefusal(.stopping))
    case .writing, .lingering, .ended: break
    }
  }

  private func arrived() {
    switch phase {
    case .reading: advance()
    case .lingering: stream.input.removeAll(keepingCapacity: true)
    // Requests that were sent ahead wait, within limits.
    case .awaitingResponse, .writing:
      if stream.input.count > 2 * owner.options.headBytesMax { stream.pauseReading() }
    case .ended: break
    }
  }

  private func streamEnded(_ isBroken: Bool) {
    isInputClosed = true
    if case .failed(let why) = stream.fault {
      owner.count(.tlsHandshake)
      owner.options.log(.debug, "a TLS connection failed: \(why)")
    }
    // A peer that only stopped sending still gets its answer.
    if isBroken || phase == .reading || phase == .lingering { end() }
  }

  private func advance() {
    guard stream.fault == nil else {
      return refuse(
        .tlsHandshake, HTTPReply.plain(400, "This port speaks TLS: use https:// or wss://."))
    }
    while phase == .reading, !stream.input.isEmpty {
      parser.consume(from: &stream.input)
      do throws(HTTPRefusal) { try parseRequest() } catch {
        refuse(error.kind, error.response(owner.options))
      }
    }
  }

  private var isHeadRequest = false
  /// The headers of the current response.
  private var headers: [HTTPHeader] = []

  /// Looks at what has been read of a request.
  private func parseRequest() throws(HTTPRefusal) {
    let isNew = head == nil && parser.isHeadComplete
    if isNew {
      let head = try HTTPHead(parser)
      self.head = head
      isHeadRequest = head.method == "HEAD"
      headers = owner.options.commonHeaders
      if let answerHeaders = owner.options.answerHeaders {
        headers += answerHeaders(head.headersKept)
      }
    }
    try parser.check()
    guard let head else { return }
    guard parser.isComplete else {
      if isNew, head.expectsContinue, parser.body.isEmpty, stream.input.isEmpty { sendContinue() }
      return
    }
    let body = parser.body
    parser.restart()
    self.head = nil
    hasReadRequest = true
    guard !upgrade(head) else { return }
    guard addressSlot?.isOverLimit != true else {
      return refuse(
        .tooManyPerAddress, HTTPReply.busy("There are too many connections from your address."))
    }
    phase = .awaitingResponse
    due = nil
    isLast = !head.isKeptAlive
    owner.requested(head, body: body, by: self)
  }

  /// Returns whether this request was for the WebSocket, and is dealt with.
  private func upgrade(_ head: HTTPHead) -> Bool {
    guard head.path.elementsEqual(owner.options.webSocketPath.utf8) else {
      guard head.wantsWebSocket else { return false }
      refuse(
        .webSocketHandshake,
        HTTPReply.plain(404, "The WebSocket is at \(owner.options.webSocketPath)."))
      return true
    }
    switch HandshakeCheck.examine(
      head, peerAddress: clientAddress(of: head), options: owner.options)
    {
    case .malformed(let response): refuse(.webSocketHandshake, response)
    case .notAdmitted(let response): refuse(.webSocketHandshake, response, isReported: false)
    case .accepted(let handshake, let key, let subprotocol):
      phase = .ended
      owner.upgraded(self, handshake, key: key, subprotocol: subprotocol)
    }
    return true
  }

  /// The address of the client that sent a request.
  func clientAddress(of head: HTTPHead) -> String {
    ClientAddress.find(head.headers, peer: peer, trusted: owner.options.trustedProxies).text
  }

  private func sendContinue() {
    phase = .writing
    stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { [unowned self] isSent in
      guard phase == .writing else { return }
      guard isSent else { return end() }
      phase = .reading
      // Reading may be paused, since more than enough may have arrived ahead.
      stream.resumeReading()
      advance()
    }
  }

  /// Answers and parts.
  private func refuse(
    _ refusal: TransportRefusal, _ response: HTTPResponse, isReported: Bool = true
  ) {
    owner.count(refusal, isReported: isReported)
    phase = .awaitingResponse
    isLast = true
    answer(response)
  }

  func answer(_ response: HTTPResponse) {
    guard phase == .awaitingResponse else { return }
    phase = .writing
    request = nil
    isLast = isLast || isStopping || isInputClosed
    owner.armTimeout(self, afterMilliseconds: timeout)
    let bytes = HTTPReply.bytes(
      of: response, commonHeaders: headers, isHead: isHeadRequest, isLast: isLast)
    (progressBefore, isTimeoutExtended) = (nil, false)
    stream.write(bytes) { [unowned self] isSent in
      guard phase == .writing else { return }
      owner.updateBacklog(self)
      guard isSent, !isInputClosed else { return end() }
      isLast || isStopping ? linger() : readNextRequest()
    }
    guard waitingByteCount > 0 else { return }
    progressBefore = readProgress
    owner.updateBacklog(self)
  }

  private func readNextRequest() {
    phase = .reading
    // The next input may be no request at all, and must not inherit anything from the one before.
    (isHeadRequest, headers) = (false, owner.options.commonHeaders)
    owner.armTimeout(self, afterMilliseconds: timeout)
    stream.resumeReading()
    advance()
  }

  private func linger() {
    phase = .lingering
    stream.input = []
    owner.armTimeout(self, afterMilliseconds: min(timeout, Self.lingerMilliseconds))
    stream.endWriting()
    stream.resumeReading()
  }

  private var timeout: UInt64 { owner.options.handshakeMilliseconds }

  /// Milliseconds for the peer to read the reason for the close.
  private static let lingerMilliseconds: UInt64 = 2_000
}
