import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `A range of addresses` {
  private func contains(_ range: String, _ address: String) throws -> Bool {
    let range = try #require(AddressRange(range))
    return range.contains(try #require(IPAddress(address)))
  }

  @Test(arguments: ["192.0.2.1", "192.0.2.1/32", "::ffff:192.0.2.1", "::ffff:192.0.2.1/128"])
  func `is one address of IPv4`(_ range: String) throws {
    #expect(try contains(range, "192.0.2.1"))
    #expect(try contains(range, "::ffff:192.0.2.1"))
    #expect(try !contains(range, "192.0.2.0"))
    #expect(try !contains(range, "192.0.2.2"))
    #expect(try !contains(range, "::192.0.2.1"))
  }

  @Test(arguments: ["2001:db8::1", "2001:db8::1/128", "2001:DB8:0:0:0:0:0:1"])
  func `is one address of IPv6`(_ range: String) throws {
    #expect(try contains(range, "2001:db8::1"))
    #expect(try !contains(range, "2001:db8::"))
    #expect(try !contains(range, "2001:db8::2"))
    #expect(try !contains(range, "2001:db8:0:0:1::1"))
  }

  // The first and the last inside, and their neighbours outside.
  @Test(arguments: [
    ("10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
    ("172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
    ("192.168.0.0/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
    ("192.0.2.128/25", "192.0.2.128", "192.0.2.255", "192.0.2.127", "192.0.3.0"),
    ("192.0.2.4/31", "192.0.2.4", "192.0.2.5", "192.0.2.3", "192.0.2.6"),
    ("128.0.0.0/1", "128.0.0.0", "255.255.255.255", "127.255.255.255", "0.0.0.0"),
    ("fd00::/8", "fd00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fcff:ffff::", "fe00::"),
    (
      "2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::",
      "2001:db9::"
    ),
    (
      "2001:db8:1:2::/64", "2001:db8:1:2::", "2001:db8:1:2:ffff:ffff:ffff:ffff",
      "2001:db8:1:1:ffff:ffff:ffff:ffff", "2001:db8:1:3::"
    ),
    (
      "2001:db8::8000:0:0:0/65", "2001:db8::8000:0:0:0", "2001:db8::ffff:0:0:1",
      "2001:db8::7fff:0:0:1", "2001:db8:0:1::"
    ),
    ("2001:db8::2/127", "2001:db8::2", "2001:db8::3", "2001:db8::1", "2001:db8::4"),
    ("::ffff:10.0.0.0/104", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
  ])
  func `is all that begin with the same bits`(
    range: String, first: String, last: String, before: String, after: String
  ) throws {
    #expect(try contains(range, first))
    #expect(try contains(range, last))
    #expect(try !contains(range, before))
    #expect(try !contains(range, after))
  }

  @Test func `is all of IPv4, and nothing else`() throws {
    for address in ["0.0.0.0", "127.0.0.1", "255.255.255.255", "::ffff:1.2.3.4"] {
      #expect(try contains("0.0.0.0/0", address))
    }
    for address in ["::", "::1", "2001:db8::1", "::1.2.3.4"] {
      #expect(try !contains("0.0.0.0/0", address))
    }
  }

  @Test func `is all addresses that there are`() throws {
    for address in ["::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "0.0.0.0", "255.255.255.255"] {
      #expect(try contains("::/0", address))
    }
  }

  @Test(arguments: [
    "", "/", "/8", "x", "x/8", "localhost", "10.0.0", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/-1",
    "10.0.0.0/+8", "10.0.0.0/ 8", "10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0.0 /8", "10.0.0.0/8/8",
    "10.0.0.0//8", "10.0.0.0/8/", "10.0.0.0/8.0", "10.0.0.0/0x8", "10.0.0.0/255.0.0.0",
    "10.0.0.0/８",
    "10.0.0.0/99999999999999999999", "[fd00::]/8", "fd00::%eth0/8", "10.0.0.0/8\u{0}",
    "10.0.0.0\u{0}/8",
  ])
  func `is not read from anything else`(_ text: String) {
    #expect(AddressRange(text) == nil)
  }

  @Test(arguments: [("10.0.0.0/", 32), ("fd00::/", 128), ("::/", 128), ("::ffff:0.0.0.0/", 128)])
  func `has no length beyond its kind`(address: String, widest: Int) {
    #expect(AddressRange(address + "\(widest + 1)") == nil)
    #expect(AddressRange(address + "\(widest)") != nil)
  }

  // Such a range is ambiguous: it may mean the address, or the network.
  @Test(arguments: [
    "10.0.0.1/8", "10.128.0.0/8", "192.0.2.1/31", "0.0.0.1/0", "128.0.0.0/0", "fd00::1/8",
    "fd80::/8",
    "::1/0", "2001:db8::1/64", "2001:db8:0:0:8000::/64", "2001:db8:0:1::/63", "::ffff:10.0.0.0/8",
    "::ffff:10.0.0.1/104",
  ])
  func `has no bits beyond its length`(_ text: String) {
    #expect(AddressRange(text) == nil)
  }

  @Test func `is the same however it is written`() {
    #expect(AddressRange("10.0.0.0/8") == AddressRange("::ffff:10.0.0.0/104"))
    #expect(AddressRange("192.0.2.1") == AddressRange("192.0.2.1/32"))
    #expect(AddressRange("FD00:0::/8") == AddressRange("fd00::/8"))
    #expect(AddressRange("10.0.0.0/8") != AddressRange("10.0.0.0/9"))
    #expect(AddressRange("10.0.0.0/8") != AddressRange("11.0.0.0/8"))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `holds who shares its bits, for any length`(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    for length in 0...128 {
      let bits = (0..<128).map { $0 < length && Bool.random(using: &random) }
      let range = try #require(AddressRange("\(address(bits).text)/\(length)"))
      var inside = bits
      for place in length..<128 { inside[place] = Bool.random(using: &random) }
      #expect(range.contains(address(inside)))

      guard let place = (0..<length).randomElement(using: &random) else { continue }
      inside[place].toggle()
      #expect(!range.contains(address(inside)))
    }
  }

  private func address(_ bits: [Bool]) -> IPAddress {
    let word = { (bits: ArraySlice<Bool>) in bits.reduce(UInt64(0)) { $0 << 1 | ($1 ? 1 : 0) } }
    return IPAddress(high: word(bits[..<64]), low: word(bits[64...]))
  }
}
