import Testing

@testable import WebSocketTransport

@Suite struct `The place of a loop in its group` {
  @Test(arguments: [0, 1, 63])
  func `is in the identity of each of its connections and requests`(_ number: Int) {
    let base = LoopPlace(number: number, totals: nil).serialBase

    #expect(ConnectionID(base | (1 << 34 - 1) << 24 | 1 << 24 - 1).loopNumber == number)
    #expect(HTTPRequestID(base + 1 << 57).loopNumber == number)
  }

  @Test func `leaves the connection numbers of the main loop unchanged`() {
    #expect(LoopPlace.alone.serialBase == 0)
  }
}

@Suite struct `The totals of several loops` {
  let totals = LoopTotals()

  @Test func `sums the counts that each loop has reported`() {
    var entries = [LoopContribution(totals), LoopContribution(totals)]

    entries[0].update(webSockets: 5, exchanges: 2, relays: 1)
    entries[1].update(webSockets: 3, exchanges: 0, relays: 0)
    entries[0].update(webSockets: 4, exchanges: 2, relays: 0)

    #expect(entries[1].totalWebSockets == 7)
    #expect(entries[1].totalExchanges == 2)
    #expect(entries[1].totalRelays == 0)
  }

  @Test func `gives each new connection a number of its own`() {
    var entries = [LoopContribution(totals), LoopContribution(totals)]

    #expect(entries[0].addWebSocket(to: 0) == 0)
    #expect(entries[1].addWebSocket(to: 0) == 1)
    // A connection that was counted when it was assigned is not counted again.
    entries[0].update(webSockets: 1, exchanges: 0, relays: 0)
    #expect(entries[0].addWebSocket(to: 1) == 2)
  }

  @Test func `is not used by a single loop`() {
    var entry = LoopContribution(nil)

    #expect(entry.addWebSocket(to: 41) == 41)
    #expect(entry.totalWebSockets == nil)
  }

  @Test func `counts an address over all loops`() throws {
    var options = TransportOptions()
    options.connectionsPerAddressMax = 1
    var counts = [AddressCounts(options, totals), AddressCounts(options, totals)]
    let address = IPAddress("192.0.2.1")

    let first = counts[0].acquireSlot(for: address)
    let second = counts[1].acquireSlot(for: address)
    #expect(first?.isOverLimit == false && second?.isOverLimit == true)

    counts[0].releaseSlot(first)
    counts[1].releaseSlot(second)
    #expect(counts[1].acquireSlot(for: address)?.isOverLimit == false)
  }
}
