import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `The connections of an address` {
  private func counts(
    max: Int = 2, isLoopbackBounded: Bool = false, trusted: [String] = []
  ) -> AddressCounts {
    var options = TransportOptions()
    options.connectionsPerAddressMax = max
    options.isLoopbackBounded = isLoopbackBounded
    options.trustedProxies = trusted.compactMap { AddressRange($0) }
    return AddressCounts(options)
  }

  /// Acquires a slot for each address; returns which were over the limit, nil for an address without a limit.
  private func surplus(_ addresses: [String], _ counts: inout AddressCounts) -> [Bool?] {
    addresses.map { counts.acquireSlot(for: IPAddress($0))?.isOverLimit }
  }

  @Test func `may be as many as the bound, and not one more`() {
    var counts = counts(max: 3)
    let address = Array(repeating: "192.0.2.1", count: 5)

    #expect(surplus(address, &counts) == [false, false, false, true, true])
  }

  @Test(arguments: [1, 0, -1])
  func `may be one at least`(max: Int) {
    var counts = counts(max: max)

    #expect(surplus(["192.0.2.1", "192.0.2.1"], &counts) == [false, true])
  }

  @Test func `are counted apart from those of others`() {
    var counts = counts(max: 1)
    let addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", "192.0.2.1"]

    #expect(surplus(addresses, &counts) == [false, false, false, false, true])
  }

  @Test func `are counted together in a network of IPv6`() {
    var counts = counts(max: 2)
    let addresses = [
      "2001:db8::1", "2001:db8::2", "2001:db8::ffff:ffff:ffff:ffff", "2001:db8:0:1::",
    ]

    #expect(surplus(addresses, &counts) == [false, false, true, false])
    let place = counts.acquireSlot(for: IPAddress("2001:db8::9"))
    #expect(place?.network == IPAddress("2001:db8::"))
  }

  @Test func `are the same by IPv4 and by IPv6 that maps it`() {
    var counts = counts(max: 1)

    #expect(surplus(["192.0.2.1", "::ffff:192.0.2.1"], &counts) == [false, true])
  }

  @Test func `become fewer when one gives its place back`() {
    var counts = counts(max: 2)
    let address = IPAddress("192.0.2.1")
    let places = (0..<3).map { _ in counts.acquireSlot(for: address) }
    #expect(places.map { $0?.isOverLimit } == [false, false, true])

    // A connection over the limit has a slot as well.
    counts.releaseSlot(places[0])
    #expect(counts.acquireSlot(for: address)?.isOverLimit == true)
    counts.releaseSlot(places[1])
    counts.releaseSlot(places[2])
    #expect(counts.acquireSlot(for: address)?.isOverLimit == false)
  }

  @Test func `lose nothing when one gives back that had no place`() {
    var counts = counts(max: 1)
    #expect(counts.acquireSlot(for: IPAddress("192.0.2.1"))?.isOverLimit == false)

    counts.releaseSlot(nil)

    #expect(counts.acquireSlot(for: IPAddress("192.0.2.1"))?.isOverLimit == true)
  }

  @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
  func `are not bounded on a loopback, unless it is asked for`(_ address: String) {
    var free = counts(max: 1)
    var bounded = counts(max: 1, isLoopbackBounded: true)

    #expect(surplus([address, address, address], &free) == [nil, nil, nil])
    #expect(surplus([address, address], &bounded) == [false, true])
  }

  @Test(arguments: [true, false])
  func `are not bounded for a trusted proxy`(isLoopbackBounded: Bool) {
    var counts = counts(
      max: 1, isLoopbackBounded: isLoopbackBounded, trusted: ["192.0.2.0/24", "::1"])

    #expect(surplus(["192.0.2.9", "192.0.2.9", "::1", "::1"], &counts) == [nil, nil, nil, nil])
    #expect(surplus(["192.0.3.9", "192.0.3.9"], &counts) == [false, true])
  }

  @Test func `are not bounded where no address is known`() {
    var counts = counts(max: 1)

    #expect(counts.acquireSlot(for: nil) == nil)
    #expect(!counts.isFarOverLimit(nil))
  }

  // A few connections above the limit are refused with a reason; further ones are not even read.
  @Test func `are far too many only some way above the bound`() {
    var counts = counts(max: 2)
    let places = (0..<100).map { _ in counts.acquireSlot(for: IPAddress("192.0.2.1")) }

    let tooMany = places.map { counts.isFarOverLimit($0) }
    let first = tooMany.firstIndex(of: true) ?? 0

    #expect(places.prefix(3).map { $0?.isOverLimit } == [false, false, true])
    #expect((3...50).contains(first))
    #expect(tooMany[first...].allSatisfy { $0 })
  }

  @Test func `are not far too many because they were`() {
    var counts = counts(max: 2)
    let address = IPAddress("192.0.2.1")
    let places = (0..<100).map { _ in counts.acquireSlot(for: address) }
    for place in places.dropFirst() { counts.releaseSlot(place) }

    let place = counts.acquireSlot(for: address)

    #expect(place?.isOverLimit == false)
    #expect(!counts.isFarOverLimit(place))
  }
}

@Suite struct `A tally of addresses` {
  private let one = IPAddress(high: 0, low: 1)
  private let other = IPAddress(high: 0, low: 2)

  @Test func `answers how many there are then`() {
    var tally = AddressTally()

    #expect((0..<3).map { _ in tally.add(one) } == [1, 2, 3])
    #expect(tally.add(other) == 1)
    #expect(tally.add(one) == 4)
  }

  @Test func `takes one away`() {
    var tally = AddressTally()
    for _ in 0..<3 { _ = tally.add(one) }

    tally.subtract(one)

    #expect(tally.add(one) == 3)
  }

  @Test func `never has fewer than none`() {
    var tally = AddressTally()

    tally.subtract(one)
    #expect(tally.add(one) == 1)
    for _ in 0..<5 { tally.subtract(one) }

    #expect(tally.add(one) == 1)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `does as a dictionary of numbers does`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    var tally = AddressTally()
    var counts: [UInt64: Int] = [:]
    for _ in 0..<1_000 {
      let low = UInt64.random(in: 0..<20, using: &random)
      let address = IPAddress(high: 7, low: low)
      if Bool.random(using: &random) {
        counts[low, default: 0] += 1
        #expect(tally.add(address) == counts[low])
      } else {
        counts[low] = max(0, (counts[low] ?? 0) - 1)
        tally.subtract(address)
      }
    }
  }
}
