/// What an HTTP connection asks of its loop.
protocol HTTPExchangeOwner: AnyObject {
  var options: TransportOptions { get }
  /// A whole request; owes one `HTTPExchange.answer`.
  func requested(_ head: HTTPHead, body: [UInt8], by exchange: HTTPExchange)
  /// The connection is to become a WebSocket; the exchange has ended.
  func upgraded(_ exchange: HTTPExchange, _ handshake: Handshake, key: String, subprotocol: String?)
  /// Something is to be finished within this time from now.
  func hurry(_ exchange: HTTPExchange, withinMilliseconds patience: UInt64)
  /// What waits for the peer has become more or less.
  func countWaiting(_ reader: any BacklogReader)
  /// Somebody was turned away; `isTold` when whoever runs the server may want to know.
  func count(_ refusal: TransportRefusal, isTold: Bool)
  /// The connection is gone.
  func ended(_ exchange: HTTPExchange)
}

extension HTTPExchangeOwner {
  func count(_ refusal: TransportRefusal) { count(refusal, isTold: true) }
}

/// One HTTP/1.1 connection: requests one after another, each answered before the next is read.
final class HTTPExchange: BacklogReader {
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
  let stream: any ByteStream
  /// Its place among those of its address.
  let place: AddressCounts.Place?
  private let peer: IPAddress
  private unowned let owner: any HTTPExchangeOwner
  private var phase = Phase.reading
  private let parser: HTTPParser
  private var head: HTTPHead?
  /// Whether the answer under way is the last on this connection.
  private var isLast = false
  private var isPeerDone = false
  private var isStopping = false
  private var hasAsked = false
  /// When patience ends; nil while the server has its time.
  private(set) var due: UInt64?
  /// The request that the server has.
  var request: RequestID?
  var standing = BacklogStanding()
  /// How much the peer had taken at the last look; nil while nothing of the answer waits.
  private var takenBefore: Int64?
  /// Whether the answer under way has been given more time.
  private var isOvertime = false

  init(
    _ stream: any ByteStream, number: UInt64, peer: IPAddress, place: AddressCounts.Place?,
    owner: any HTTPExchangeOwner
  ) {
    self.stream = stream
    self.number = number
    self.peer = peer
    self.place = place
    self.owner = owner
    headers = owner.options.commonHeaders
    parser = HTTPParser(
      headBytesMax: owner.options.headBytesMax, bodyBytesMax: owner.options.bodyBytesMax)
    stream.arrived = { [unowned self] in arrived() }
    stream.ended = { [unowned self] isBroken in streamEnded(isBroken) }
  }

  /// Reads what the peer has said so far, which may be all, and goes on reading.
  func begin() { stream.resumeReading() }

  /// Ends in `phase == .ended`; the owner forgets the exchange.
  private func end() {
    guard phase != .ended else { return }
    phase = .ended
    stream.close()
    owner.countWaiting(self)
    owner.ended(self)
  }

  /// Ends it at once, and lets the kernel forget what it holds for the peer.
  func abandon() {
    guard phase != .ended else { return }
    stream.abort()
    end()
  }

  var waitingByteCount: Int { phase == .writing ? stream.unsentByteCount : 0 }

  /// Where the kernel does not tell, what it has taken is all that shows.
  var takenByteCount: Int64 {
    let count = stream.acknowledgedByteCount
    return count >= 0 ? count : -Int64(waitingByteCount)
  }

  /// Whether the answer under way is being read, and so is given its time once more.
  func makesProgress() -> Bool {
    guard phase == .writing, let before = takenBefore else { return false }
    let now = takenByteCount
    takenBefore = now
    isOvertime = now > before
    return isOvertime
  }

  /// Whether an entry among the owner's deadlines stands for this exchange.
  var isWatched = false

  func setDue(_ due: UInt64) { self.due = due }

  /// Patience is over.
  func overdue() {
    switch phase {
    case .reading where parser.hasBegun:
      refuse(
        .slowRequest,
        HTTPReply.plain(408, "The request took over \(owner.options.handshakeSeconds) seconds."))
    // Who has said nothing is not answered: browsers open connections ahead of need.
    case .reading where !hasAsked:
      owner.count(.slowRequest, isTold: false)
      end()
    case .writing:
      owner.count(.slowReader)
      end()
    default: end()
    }
  }

  /// Whether a request is on its way.
  var isReading: Bool { phase == .reading }

  /// Whether it is the peer's turn, to say more or to take what it is told, and not the server's.
  var isPeersTurn: Bool { phase != .waiting && phase != .ended }

  /// Whether the peer is waited for, and might be given up for another one: at once when it has had its answer.
  func mayGiveWay(atMilliseconds now: UInt64) -> Bool {
    switch phase {
    case .parting: true
    case .reading where hasAsked && !parser.hasBegun: true
    case .reading: due.map { now + patience >= $0 + Self.graceMilliseconds } ?? false
    case .writing: isOvertime
    case .waiting, .ended: false
    }
  }

  /// How long a request that is on its way is safe from others; a quarter of it passes between two looks.
  static let graceMilliseconds: UInt64 = 1_000

  /// Is given up for another one.
  func giveWay() {
    if phase == .reading, parser.hasBegun {
      let bytes = HTTPReply.bytes(
        of: HTTPReply.busy("There are too many connections."),
        commonHeaders: owner.options.commonHeaders, isHead: answersHead, isLast: true)
      stream.write(bytes) { _ in }
    }
    end()
  }

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
    case .waiting, .writing:
      if stream.input.count > 2 * owner.options.headBytesMax { stream.pauseReading() }
    case .ended: break
    }
  }

  private func streamEnded(_ isBroken: Bool) {
    isPeerDone = true
    if case .failed(let why) = stream.complaint {
      owner.count(.tlsHandshake)
      owner.options.log(.debug, "a TLS connection failed: \(why)")
    }
    // A peer that only stopped sending still gets its answer.
    if isBroken || phase == .reading || phase == .parting { end() }
  }

  private func advance() {
    guard stream.complaint == nil else {
      return refuse(
        .tlsHandshake, HTTPReply.plain(400, "TLS is spoken here: https:// and wss://."))
    }
    while phase == .reading, !stream.input.isEmpty {
      parser.take(from: &stream.input)
      do throws(HTTPRefusal) { try look() } catch { refuse(error.kind, error.response) }
    }
  }

  private var answersHead = false
  /// What its answer carries.
  private var headers: [HTTPHeader] = []

  /// Looks at what has been read of a request.
  private func look() throws(HTTPRefusal) {
    let isNew = head == nil && parser.isHeadWhole
    if isNew {
      let head = try HTTPHead(parser)
      self.head = head
      answersHead = head.method == "HEAD"
      headers = owner.options.commonHeaders
      if let answerHeaders = owner.options.answerHeaders {
        headers += answerHeaders(head.headersKept)
      }
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
    hasAsked = true
    guard !upgrade(head) else { return }
    guard place?.isSurplus != true else {
      return refuse(
        .tooManyOfAddress, HTTPReply.busy("There are too many connections from your address."))
    }
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
        .webSocketHandshake,
        HTTPReply.plain(404, "The WebSocket is at \(owner.options.webSocketPath)."))
      return true
    }
    switch HandshakeCheck.examine(
      head, peerAddress: clientAddress(of: head), options: owner.options)
    {
    case .malformed(let response): refuse(.webSocketHandshake, response)
    case .notAdmitted(let response): refuse(.webSocketHandshake, response, isTold: false)
    case .accepted(let handshake, let key, let subprotocol):
      phase = .ended
      owner.upgraded(self, handshake, key: key, subprotocol: subprotocol)
    }
    return true
  }

  /// Whose request it is.
  func clientAddress(of head: HTTPHead) -> String {
    ClientAddress.find(head.headers, peer: peer, trusted: owner.options.trustedProxies).text
  }

  private func sayContinue() {
    phase = .writing
    stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { [unowned self] isSent in
      guard phase == .writing else { return }
      guard isSent else { return end() }
      phase = .reading
      // What was sent ahead may have been more than enough.
      stream.resumeReading()
      advance()
    }
  }

  /// Answers and parts.
  private func refuse(
    _ refusal: TransportRefusal, _ response: HTTPResponse, isTold: Bool = true
  ) {
    owner.count(refusal, isTold: isTold)
    phase = .waiting
    isLast = true
    answer(response)
  }

  func answer(_ response: HTTPResponse) {
    guard phase == .waiting else { return }
    phase = .writing
    request = nil
    isLast = isLast || isStopping || isPeerDone
    owner.hurry(self, withinMilliseconds: patience)
    let bytes = HTTPReply.bytes(
      of: response, commonHeaders: headers, isHead: answersHead, isLast: isLast)
    (takenBefore, isOvertime) = (nil, false)
    stream.write(bytes) { [unowned self] isSent in
      guard phase == .writing else { return }
      owner.countWaiting(self)
      guard isSent, !isPeerDone else { return end() }
      isLast || isStopping ? part() : next()
    }
    guard waitingByteCount > 0 else { return }
    takenBefore = takenByteCount
    owner.countWaiting(self)
  }

  private func next() {
    phase = .reading
    // What comes may be no request at all, and has nothing to do with the one before.
    (answersHead, headers) = (false, owner.options.commonHeaders)
    owner.hurry(self, withinMilliseconds: patience)
    stream.resumeReading()
    advance()
  }

  private func part() {
    phase = .parting
    stream.input = []
    owner.hurry(self, withinMilliseconds: min(patience, Self.partingMilliseconds))
    stream.endWriting()
    stream.resumeReading()
  }

  private var patience: UInt64 { owner.options.handshakeMilliseconds }

  /// Milliseconds in which a peer that was told to go may read why.
  private static let partingMilliseconds: UInt64 = 2_000
}
