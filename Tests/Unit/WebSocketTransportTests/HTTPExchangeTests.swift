import Testing

@testable import WebSocketTransport

/// A connection of which the test is the peer and the kernel.
private final class TestStream: ByteStream {
  var input: [UInt8] = []
  var arrived: () -> Void = {}
  var ended: (_ isBroken: Bool) -> Void = { _ in }
  var unsentByteCount = 0
  var acknowledgedByteCount: Int64 = -1
  var fault: StreamFault?

  private(set) var isReading = false
  private(set) var isClosed = false
  private(set) var isAborted = false
  private(set) var hasEndedWriting = false
  private var output: [UInt8] = []
  private var then: ((_ isSent: Bool) -> Void)?

  func resumeReading() { isReading = true }
  func pauseReading() { isReading = false }
  func endWriting() { hasEndedWriting = true }
  func close() { isClosed = true }
  func abort() { isAborted = true }

  func write(_ bytes: [UInt8], then: @escaping (_ isSent: Bool) -> Void) {
    output += bytes
    self.then = then
  }

  /// The peer sends a text.
  func receive(_ text: String) {
    input += Array(text.utf8)
    arrived()
  }

  /// The kernel accepts the written bytes, which are returned.
  func takeOutput(isSent: Bool = true) -> String {
    let text = String(decoding: output, as: UTF8.self)
    output = []
    let then = then
    self.then = nil
    then?(isSent)
    return text
  }
}

/// A loop that records the actions that its connection asks for.
private final class TestOwner: HTTPExchangeOwner {
  var options = TransportOptions()
  var requests: [String] = []
  var upgrades: [String] = []
  var patience: [UInt64] = []
  var refusals: [TransportRefusal] = []
  var toldRefusals: [TransportRefusal] = []
  var endCount = 0
  /// The exchange is kept here, since it does not own its loop.
  var exchange: HTTPExchange?

  func requested(_ head: HTTPHead, body: [UInt8], by exchange: HTTPExchange) {
    let (path, body) = (
      String(decoding: head.path, as: UTF8.self), String(decoding: body, as: UTF8.self)
    )
    requests.append("\(head.method) \(path) \(body)")
  }

  func upgraded(
    _ exchange: HTTPExchange, _ handshake: Handshake, key: String, subprotocol: String?
  ) {
    upgrades.append("\(key) \(subprotocol ?? "-") \(handshake.peerAddress)")
  }

  func armTimeout(_ exchange: HTTPExchange, afterMilliseconds patience: UInt64) {
    self.patience.append(patience)
    exchange.setDue(patience)
  }

  func updateBacklog(_ reader: any BacklogReader) {}

  func count(_ refusal: TransportRefusal, isReported: Bool) {
    refusals.append(refusal)
    if isReported { toldRefusals.append(refusal) }
  }

  func ended(_ exchange: HTTPExchange) { endCount += 1 }
}

@Suite struct `An HTTP connection` {
  private let owner = TestOwner()
  private let stream = TestStream()

  /// Begins to read from the peer 192.0.2.1.
  private func begun(
    addressSlot slot: AddressCounts.Slot? = nil, _ set: (inout TransportOptions) -> Void = { _ in }
  ) -> HTTPExchange {
    set(&owner.options)
    let exchange = HTTPExchange(
      stream, number: 1, peer: IPAddress(high: 0, low: 0xffff_c000_0201), addressSlot: slot,
      owner: owner)
    owner.exchange = exchange
    exchange.start()
    return exchange
  }

  private func text(_ words: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "text/plain", body: Array(words.utf8))
  }

  @Test func `reads as soon as it begins`() {
    let exchange = begun()

    #expect(stream.isReading)
    #expect(exchange.isReading && exchange.isWaitingForPeer)
  }

  @Test func `hands a request over when it is whole`() {
    let exchange = begun()

    stream.receive("POST /a HTTP/1.1\r\nHost: x\r\nContent-Le")
    stream.receive("ngth: 5\r\n\r\nhel")
    #expect(owner.requests == [])
    stream.receive("lo")

    #expect(owner.requests == ["POST /a hello"])
    #expect(!exchange.isWaitingForPeer)
  }

  @Test func `sends the answer, and reads the next request`() {
    let exchange = begun()
    stream.receive(get("/a"))

    exchange.answer(text("one"))

    let output = stream.takeOutput()
    #expect(output.hasPrefix("HTTP/1.1 200 OK\r\n") && output.hasSuffix("\r\n\r\none"))
    #expect(!output.contains("Connection: close"))
    stream.receive(get("/b"))
    #expect(owner.requests == ["GET /a ", "GET /b "])
    #expect(!stream.isClosed && owner.endCount == 0)
  }

  @Test func `answers a request once`() {
    let exchange = begun()
    stream.receive(get("/a"))

    exchange.answer(text("one"))
    exchange.answer(text("two"))

    #expect(stream.takeOutput().hasSuffix("\r\n\r\none"))
    #expect(stream.takeOutput() == "")
  }

  // RFC 9112 §9.3.2: answers come in the order of the requests.
  @Test func `hands over requests that were sent ahead one after another`() {
    let exchange = begun()

    stream.receive(get("/a") + get("/b") + get("/c"))
    for (path, next) in [("/a", "/b"), ("/b", "/c")] {
      #expect(owner.requests.last == "GET \(path) ")
      exchange.answer(text(path))
      #expect(owner.requests.last == "GET \(path) ")
      #expect(stream.takeOutput().hasSuffix(path))
      #expect(owner.requests.last == "GET \(next) ")
    }

    #expect(owner.requests.count == 3)
  }

  @Test func `reads no more than a little ahead`() {
    let exchange = begun { $0.headBytesMax = 100 }
    stream.receive(get("/a"))

    stream.receive(String(repeating: "x", count: 200))
    #expect(stream.isReading)
    stream.receive("x")
    #expect(!stream.isReading)

    exchange.answer(text("one"))
    _ = stream.takeOutput()
    #expect(stream.isReading)
  }

  // RFC 9110 §9.3.2.
  @Test func `sends no body to HEAD, and one to what comes after`() {
    let exchange = begun()
    stream.receive(request("HEAD / HTTP/1.1") + get("/b"))

    exchange.answer(text("one"))
    let head = stream.takeOutput()
    exchange.answer(text("two"))

    #expect(head.hasSuffix("\r\n\r\n") && head.contains("Content-Length: 3\r\n"))
    #expect(stream.takeOutput().hasSuffix("\r\n\r\ntwo"))
  }

  // RFC 9112 §9.6.
  @Test(arguments: [
    request("GET / HTTP/1.0"), get("/", "Connection: close"), get("/", "Connection: x, Close"),
  ])
  func `lingers after the last answer until the peer has gone`(_ last: String) {
    let exchange = begun()
    stream.receive(last + get("/never"))

    exchange.answer(text("one"))
    #expect(stream.takeOutput().contains("\r\nConnection: close\r\n"))

    #expect(stream.hasEndedWriting && !stream.isClosed)
    #expect(exchange.isEvictable(atMilliseconds: 0))
    // Further input is ignored.
    stream.receive(get("/never"))
    #expect(owner.requests.count == 1)
    stream.ended(false)
    #expect(stream.isClosed && owner.endCount == 1)
  }

  @Test(arguments: [
    ("FOO / HTTP/1.1\r\n\r\n", TransportRefusal.malformedRequest, 501),
    ("\u{16}\u{3}\u{1}", .malformedRequest, 400),
    ("GET / HTTP/1.1\r\n\r\n", .malformedRequest, 400),
    ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", .malformedRequest, 505),
    ("GET /" + String(repeating: "a", count: 20_000), .headTooLong, 431),
    (request("POST / HTTP/1.1", ["Host: x", "Content-Length: 16385"]), .bodyTooLong, 413),
    (
      request("POST / HTTP/1.1", ["Host: x", "Transfer-Encoding: gzip, chunked"]),
      .malformedRequest, 501
    ),
    (get("/other", "Upgrade: websocket"), .webSocketHandshake, 404),
    (get("/ws"), .webSocketHandshake, 426),
  ])
  func `refuses a bad request, and reads no more`(
    bad: String, refusal: TransportRefusal, status: Int
  ) {
    let exchange = begun()

    stream.receive(bad)
    let output = stream.takeOutput()

    #expect(output.hasPrefix("HTTP/1.1 \(status) "))
    #expect(output.contains("\r\nConnection: close\r\n"))
    #expect(owner.refusals == [refusal] && owner.toldRefusals == [refusal])
    #expect(owner.requests == [])
    #expect(stream.hasEndedWriting && !exchange.isReading)
  }

  @Test func `refuses a bad request after a good one`() {
    let exchange = begun()
    stream.receive(get("/a") + "nonsense\r\n\r\n")

    exchange.answer(text("one"))
    #expect(stream.takeOutput().hasSuffix("one"))

    #expect(stream.takeOutput().hasPrefix("HTTP/1.1 400 "))
    #expect(owner.requests == ["GET /a "])
  }

  // RFC 9110 §10.1.1.
  @Test func `tells a client that waits to go on`() {
    let exchange = begun()
    let fields = ["Host: x", "Expect: 100-continue", "Content-Length: 2"]

    stream.receive(request("POST /a HTTP/1.1", fields))
    #expect(stream.takeOutput() == "HTTP/1.1 100 Continue\r\n\r\n")
    stream.receive("hi")

    #expect(owner.requests == ["POST /a hi"])
    exchange.answer(text("one"))
    #expect(stream.takeOutput().hasPrefix("HTTP/1.1 200 "))
  }

  @Test func `says nothing to a client that goes on by itself`() {
    _ = begun()
    let fields = ["Host: x", "Expect: 100-continue", "Content-Length: 2"]

    stream.receive(request("POST /a HTTP/1.1", fields) + "h")
    stream.receive("i")

    #expect(stream.takeOutput() == "")
    #expect(owner.requests == ["POST /a hi"])
  }

  @Test func `asks for no body that is too long`() {
    _ = begun()
    let fields = ["Host: x", "Expect: 100-continue", "Content-Length: 99999"]

    stream.receive(request("POST /a HTTP/1.1", fields))

    #expect(stream.takeOutput().hasPrefix("HTTP/1.1 413 "))
  }

  @Test func `hands over a handshake with whatever came behind it`() {
    _ = begun { $0.trustedProxies = [AddressRange("192.0.2.0/24")].compactMap { $0 } }
    let handshake = get(
      "/ws", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "X-Forwarded-For: 198.51.100.1",
      "Sec-WebSocket-Protocol: timersync.v1")

    stream.receive(handshake + "frames")

    #expect(owner.upgrades == ["dGhlIHNhbXBsZSBub25jZQ== timersync.v1 198.51.100.1"])
    #expect(stream.input == Array("frames".utf8))
    #expect(stream.takeOutput() == "" && !stream.isClosed)
  }

  // The server already knows of requests that it refused itself.
  @Test func `does not tell of a handshake that was not admitted`() {
    _ = begun { $0.admission = { _ in HTTPResponse(status: 403) } }

    stream.receive(
      get(
        "/ws", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))

    #expect(stream.takeOutput().hasPrefix("HTTP/1.1 403 "))
    #expect(owner.refusals == [.webSocketHandshake] && owner.toldRefusals == [])
  }

  @Test func `refuses the requests of an address that has too many`() {
    var options = TransportOptions()
    options.connectionsPerAddressMax = 1
    var counts = AddressCounts(options)
    let places = (0..<2).map { _ in counts.acquireSlot(for: IPAddress("192.0.2.1")) }
    _ = begun(addressSlot: places[1])

    stream.receive(get("/"))

    let output = stream.takeOutput()
    #expect(output.hasPrefix("HTTP/1.1 503 ") && output.contains("\r\nRetry-After: "))
    #expect(owner.refusals == [.tooManyPerAddress])
  }

  @Test func `says so to a client that speaks no TLS`() {
    _ = begun()
    stream.fault = .notTLS

    stream.receive(get("/"))

    #expect(stream.takeOutput().hasPrefix("HTTP/1.1 400 "))
    #expect(owner.refusals == [.tlsHandshake] && owner.requests == [])
  }

  @Test func `carries the headers of all answers`() {
    let exchange = begun {
      $0.commonHeaders = [HTTPHeader("X-All", "1")]
      $0.answerHeaders = { [HTTPHeader("X-Origin", $0["origin"] ?? "-")] }
    }
    stream.receive(get("/", "Origin: http://a") + "nonsense\r\n\r\n")

    exchange.answer(text("one"))
    let (answer, refusal) = (stream.takeOutput(), stream.takeOutput())

    #expect(answer.contains("\r\nX-All: 1\r\n") && answer.contains("\r\nX-Origin: http://a\r\n"))
    // The input is no request, so the refusal has none of the headers for the request before.
    #expect(refusal.contains("\r\nX-All: 1\r\n") && !refusal.contains("X-Origin"))
  }

  // RFC 9110 §15.5.9.
  @Test func `tells a client whose request does not end that it was too slow`() {
    let exchange = begun()
    stream.receive("GET / HT")

    exchange.timeOut()

    #expect(stream.takeOutput().hasPrefix("HTTP/1.1 408 "))
    #expect(owner.toldRefusals == [.slowRequest])
  }

  // Browsers open connections ahead of need.
  @Test func `ends without a word for a client that has asked nothing`() {
    let exchange = begun()

    exchange.timeOut()

    #expect(stream.takeOutput() == "" && stream.isClosed && owner.endCount == 1)
    #expect(owner.refusals == [.slowRequest] && owner.toldRefusals == [])
  }

  @Test func `is no slow one when it is idle after an answer`() {
    let exchange = begun()
    stream.receive(get("/"))
    exchange.answer(text("one"))
    _ = stream.takeOutput()

    exchange.timeOut()

    #expect(stream.isClosed && owner.refusals == [])
  }

  @Test func `gives each answer its time`() {
    let exchange = begun { $0.handshakeSeconds = 7 }
    stream.receive(get("/"))
    #expect(exchange.due == nil)

    exchange.answer(text("one"))

    #expect(exchange.due == 7_000)
    exchange.timeOut()
    #expect(stream.isClosed && owner.refusals == [.slowReader])
  }

  @Test func `makes progress while its answer is taken`() {
    let exchange = begun()
    stream.receive(get("/"))
    (stream.unsentByteCount, stream.acknowledgedByteCount) = (1_000, 100)
    exchange.answer(text("one"))
    #expect(exchange.waitingByteCount == 1_000)

    #expect(!exchange.recordProgress())
    stream.acknowledgedByteCount = 101
    #expect(exchange.recordProgress())
    #expect(!exchange.recordProgress())
  }

  @Test func `makes no progress while nothing waits`() {
    let exchange = begun()
    #expect(!exchange.recordProgress())
    stream.receive(get("/"))
    #expect(!exchange.recordProgress())
  }

  @Test func `answers what it can when the server stops`() {
    owner.options.serviceRefusal = { HTTPResponse(status: $0.status, body: Array("\($0)".utf8)) }
    let exchange = begun()
    stream.receive(get("/") + get("/never"))

    exchange.stop()

    let output = stream.takeOutput()
    #expect(output.hasPrefix("HTTP/1.1 503 ") && output.hasSuffix("\r\n\r\nstopping"))
    #expect(output.contains("\r\nConnection: close\r\n"))
    #expect(stream.hasEndedWriting && owner.requests.count == 1)
  }

  @Test func `ends at once when the server stops and nothing was asked`() {
    begun().stop()

    #expect(stream.isClosed && owner.endCount == 1)
  }

  @Test func `finishes an answer while the server stops, and reads no more`() {
    let exchange = begun()
    stream.receive(get("/a") + get("/never"))
    exchange.answer(text("one"))

    exchange.stop()

    #expect(!stream.isClosed)
    #expect(stream.takeOutput().hasSuffix("one"))
    #expect(stream.hasEndedWriting && owner.requests.count == 1)
  }

  @Test func `answers a peer that has stopped to send`() {
    let exchange = begun()
    stream.receive(get("/"))

    stream.ended(false)
    #expect(!stream.isClosed)
    exchange.answer(text("one"))

    #expect(stream.takeOutput().hasSuffix("one"))
    #expect(stream.isClosed && owner.endCount == 1)
  }

  @Test func `ends when the peer stops in the middle of a request`() {
    let exchange = begun()
    stream.receive("GET / HT")

    stream.ended(false)

    #expect(stream.isClosed && owner.requests == [] && !exchange.isWaitingForPeer)
  }

  @Test func `ends when it is broken, whatever it is about`() {
    let exchange = begun()
    stream.receive(get("/"))

    stream.ended(true)
    exchange.answer(text("late"))

    #expect(stream.isClosed && owner.endCount == 1)
    #expect(stream.takeOutput() == "")
  }

  @Test func `ends when an answer can't be sent`() {
    let exchange = begun()
    stream.receive(get("/"))
    exchange.answer(text("one"))

    _ = stream.takeOutput(isSent: false)

    #expect(stream.isClosed && owner.endCount == 1)
  }

  @Test func `ends once, however often it is told to`() {
    let exchange = begun()

    exchange.abort()
    exchange.abort()
    exchange.stop()
    stream.ended(true)

    #expect(stream.isAborted && stream.isClosed && owner.endCount == 1)
  }
}

@Suite struct `An HTTP connection whose place another one wants` {
  private let owner = TestOwner()
  private let stream = TestStream()

  private func begun() -> HTTPExchange {
    let exchange = HTTPExchange(
      stream, number: 1, peer: IPAddress(high: 0, low: 1), addressSlot: nil, owner: owner)
    owner.exchange = exchange
    exchange.start()
    owner.armTimeout(exchange, afterMilliseconds: 10_000)
    return exchange
  }

  // The exchange began at 0, and its timeout is 10 s later.
  @Test func `keeps it for a while when it is new`() {
    let exchange = begun()
    #expect(!exchange.isEvictable(atMilliseconds: HTTPExchange.graceMilliseconds - 1))
    #expect(exchange.isEvictable(atMilliseconds: HTTPExchange.graceMilliseconds))
    stream.receive("GET / HT")
    #expect(!exchange.isEvictable(atMilliseconds: HTTPExchange.graceMilliseconds - 1))
  }

  @Test func `keeps it while the server has its request`() {
    let exchange = begun()

    stream.receive(get("/"))

    #expect(!exchange.isEvictable(atMilliseconds: .max / 2))
  }

  @Test func `gives it up at once when it had its answer`() {
    let exchange = begun()
    stream.receive(get("/"))
    exchange.answer(HTTPResponse(status: 204))
    #expect(!exchange.isEvictable(atMilliseconds: 0))

    _ = stream.takeOutput()

    #expect(exchange.isEvictable(atMilliseconds: 0))
    exchange.evict()
    #expect(stream.takeOutput() == "" && stream.isClosed && owner.endCount == 1)
  }

  @Test func `is told so in the middle of a request`() {
    let exchange = begun()
    stream.receive("GET / HT")

    exchange.evict()

    #expect(stream.takeOutput().hasPrefix("HTTP/1.1 503 "))
    #expect(stream.isClosed && owner.endCount == 1)
  }
}
