import Testing

@testable import WebSocketTransport

@Suite struct `The transport's options` {
  @Test func `listen on the loopback unless another address is given`() {
    let options = TransportOptions()

    #expect(options.addresses == ["127.0.0.1"])
    #expect(options.address == "127.0.0.1")
    #expect(options.tls == nil && options.trustedProxies.isEmpty)
  }

  @Test func `have one address when it is set`() {
    var options = TransportOptions()
    options.addresses = ["192.0.2.1", "::1"]
    #expect(options.address == "192.0.2.1")

    options.address = "0.0.0.0"

    #expect(options.addresses == ["0.0.0.0"])
  }

  @Test func `have a loopback for no address`() {
    var options = TransportOptions()

    options.addresses = []

    #expect(options.address == "127.0.0.1")
  }

  @Test(
    arguments: [
      (10, 10_000), (0.5, 500), (0.01, 10), (1.25, 1_250), (3_600, 3_600_000),
    ] as [(Double, UInt64)])
  func `give milliseconds for a handshake`(seconds: Double, milliseconds: UInt64) {
    var options = TransportOptions()

    options.handshakeSeconds = seconds

    #expect(options.handshakeMilliseconds == milliseconds)
  }

  // A timeout of zero would refuse every client at once.
  @Test(arguments: [0, -1, -.infinity, 1e-9] as [Double])
  func `give a handshake some time`(seconds: Double) {
    var options = TransportOptions()

    options.handshakeSeconds = seconds

    #expect((1...100).contains(options.handshakeMilliseconds))
  }

  @Test(arguments: [1e9, 1e18, .greatestFiniteMagnitude, .infinity] as [Double])
  func `give a handshake and a drain no more time than can be counted`(seconds: Double) {
    var options = TransportOptions()

    options.handshakeSeconds = seconds
    options.drainSeconds = seconds

    #expect(options.handshakeMilliseconds == 1_000_000_000_000)
    #expect(options.drainMicroseconds == 1_000_000_000_000_000)
  }

  @Test(arguments: [(3, 3_000_000), (0.25, 250_000), (0, 0), (-1, 0)] as [(Double, Int64)])
  func `give microseconds for a drain`(seconds: Double, microseconds: Int64) {
    var options = TransportOptions()

    options.drainSeconds = seconds

    #expect(options.drainMicroseconds == microseconds)
  }

  @Test func `admit everybody unless they are told otherwise`() {
    let options = TransportOptions()

    #expect(options.admission(Handshake()) == nil)
    #expect(options.fileAdmission(["origin": "http://a"]) == nil)
  }
}

@Suite struct `A frame` {
  @Test(arguments: [
    (Frame([]), 0), (Frame([1, 2, 3]), 3), (Frame([1], additional: [[2, 3], [], [4]]), 4),
    (Frame([], additional: [[]]), 0), (Frame([1, 2], replacementKey: 7, isBinary: true), 2),
  ])
  func `counts the bytes of all of its messages`(frame: Frame, count: Int) {
    #expect(frame.byteCount == count)
  }

  @Test func `is another one with other bytes, another key or another kind`() {
    let frame = Frame([1], additional: [[2]], replacementKey: 7)

    #expect(frame == Frame([1], additional: [[2]], replacementKey: 7))
    #expect(frame != Frame([1, 2], replacementKey: 7))
    #expect(frame != Frame([1], additional: [[2]], replacementKey: 8))
    #expect(frame != Frame([1], additional: [[2]]))
    #expect(frame != Frame([1], additional: [[2]], replacementKey: 7, isBinary: true))
  }

  @Test func `goes to all or to one`() {
    let (frame, id, group) = (Frame([1]), ConnectionID(1), GroupID(1))
    let others: [TransportAction] = [
      .send(frame, to: id), .join(id, group), .leave(id, group), .pauseReading(id),
      .resumeReading(id), .stop,
      .close(id, .goingAway, reason: ""), .setDeadline(afterMicroseconds: nil),
    ]

    #expect(TransportAction.broadcast(frame, to: group).isBroadcast)
    #expect(others.allSatisfy { !$0.isBroadcast })
  }
}

// RFC 6455 §7.4.1, and IANA's registry for 1012 and 1013.
@Suite struct `A close code` {
  @Test(
    arguments: [
      (CloseCode.goingAway, 1001), (.unsupportedData, 1003), (.invalidPayload, 1007),
      (.policyViolation, 1008), (.messageTooBig, 1009), (.serviceRestart, 1012),
      (.tryAgainLater, 1013),
    ] as [(CloseCode, UInt16)])
  func `is the one of the registry`(code: CloseCode, number: UInt16) {
    #expect(code.rawValue == number)
  }
}
