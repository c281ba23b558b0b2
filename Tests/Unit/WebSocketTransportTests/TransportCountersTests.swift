import Testing

@testable import WebSocketTransport

@Suite struct `The transport's counters` {
  @Test func `begin with nothing, of one loop`() {
    let counters = TransportCounters()

    #expect(counters.refusals.isEmpty)
    #expect(counters.acceptedCount == 0 && counters.httpConnectionCount == 0)
    #expect(counters.webSocketCount == 0 && counters.tlsWebSocketCount == 0)
    #expect(counters.loopCount == 1)
  }

  @Test func `count each refusal by itself, and none that was not given`() {
    var counters = TransportCounters()
    for refusal in [TransportRefusal.pingTimeout, .stalled, .pingTimeout] {
      counters.count(refusal)
    }

    #expect(counters.refusals == [.pingTimeout: 2, .stalled: 1])
  }

  @Test(arguments: TransportRefusal.allCases)
  func `count any refusal`(_ refusal: TransportRefusal) {
    var counters = TransportCounters()

    counters.count(refusal)

    #expect(counters.refusals == [refusal: 1])
  }

  @Test func `are summed over loops, figure by figure`() {
    var sum = counters(1, 2, 3, 4, [.pingTimeout: 1, .stalled: 2])

    sum.add(counters(10, 20, 30, 40, [.stalled: 3, .headTooLong: 4]))
    sum.add(counters(100, 200, 300, 400, [:]))

    var expected = counters(111, 222, 333, 444, [.pingTimeout: 1, .stalled: 5, .headTooLong: 4])
    expected.loopCount = 3
    #expect(sum == expected)
  }

  @Test func `are a sum of sums`() {
    var pair = counters(1, 1, 1, 1, [.pingTimeout: 1])
    pair.add(pair)
    var four = pair

    four.add(pair)

    var expected = counters(4, 4, 4, 4, [.pingTimeout: 4])
    expected.loopCount = 4
    #expect(four == expected)
  }

  @Test func `stay as they are when nothing is added but a loop`() {
    var sum = counters(1, 2, 3, 4, [.pingTimeout: 1])
    let before = sum

    sum.add(TransportCounters())

    #expect(sum.refusals == before.refusals && sum.acceptedCount == before.acceptedCount)
    #expect(sum.loopCount == 2)
  }

  private func counters(
    _ accepted: Int, _ webSockets: Int, _ http: Int, _ tls: Int,
    _ refusals: [TransportRefusal: Int]
  ) -> TransportCounters {
    var counters = TransportCounters()
    counters.acceptedCount = accepted
    counters.webSocketCount = webSockets
    counters.httpConnectionCount = http
    counters.tlsWebSocketCount = tls
    counters.refusals = refusals
    return counters
  }
}
