import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `An IP address` {
  @Test(
    arguments: [
      ("0.0.0.0", 0x0), ("127.0.0.1", 0x7f00_0001), ("192.0.2.1", 0xc000_0201),
      ("255.255.255.255", 0xffff_ffff), ("1.2.3.4", 0x0102_0304), ("10.0.0.10", 0x0a00_000a),
    ] as [(String, UInt64)])
  func `is read from four numbers`(text: String, bits: UInt64) throws {
    let address = try #require(IPAddress(text))

    #expect(address.isV4)
    #expect((address.high, address.low) == (0, 0xffff_0000_0000 | bits))
    #expect(address.text == text)
  }

  // RFC 4291 §2.2.
  @Test(
    arguments: [
      ("ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", 0xabcd_ef01_2345_6789, 0xabcd_ef01_2345_6789),
      ("2001:DB8:0:0:8:800:200C:417A", 0x2001_0db8_0000_0000, 0x0008_0800_200c_417a),
      ("2001:DB8::8:800:200C:417A", 0x2001_0db8_0000_0000, 0x0008_0800_200c_417a),
      ("FF01:0:0:0:0:0:0:101", 0xff01_0000_0000_0000, 0x101),
      ("FF01::101", 0xff01_0000_0000_0000, 0x101),
      ("0:0:0:0:0:0:0:1", 0, 1), ("::1", 0, 1), ("0:0:0:0:0:0:0:0", 0, 0), ("::", 0, 0),
      ("0:0:0:0:0:0:13.1.68.3", 0, 0x0d01_4403), ("::13.1.68.3", 0, 0x0d01_4403),
      ("64:ff9b::192.0.2.33", 0x0064_ff9b_0000_0000, 0xc000_0221),
      ("1::", 0x0001_0000_0000_0000, 0),
      ("1:2:3:4:5:6:7::", 0x0001_0002_0003_0004, 0x0005_0006_0007_0000),
      ("::2:3:4:5:6:7:8", 0x0000_0002_0003_0004, 0x0005_0006_0007_0008),
      ("fe80::0001", 0xfe80_0000_0000_0000, 1),
    ] as [(String, UInt64, UInt64)])
  func `is read from groups of hexadecimal digits`(text: String, high: UInt64, low: UInt64) throws {
    let address = try #require(IPAddress(text))

    #expect(!address.isV4)
    #expect((address.high, address.low) == (high, low))
  }

  // RFC 4291 §2.5.5.2.
  @Test(arguments: [
    "::ffff:192.0.2.1", "::FFFF:192.0.2.1", "0:0:0:0:0:ffff:192.0.2.1", "::ffff:c000:201",
    "0000:0000:0000:0000:0000:FFFF:C000:0201",
  ])
  func `of IPv4 is the same when it is written as IPv6`(_ text: String) throws {
    let address = try #require(IPAddress(text))

    #expect(address == IPAddress("192.0.2.1"))
    #expect(address.isV4)
    #expect(address.text == "192.0.2.1")
  }

  // RFC 5952 §4: no leading zeros, the longest run of zeros as `::`, the first of two, no single group,
  // and small letters.
  @Test(arguments: [
    ("2001:0db8::0001", "2001:db8::1"), ("2001:DB8:0:0:0:0:2:1", "2001:db8::2:1"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:DB8::ABCD", "2001:db8::abcd"),
    ("0:0:0:0:0:0:0:0", "::"), ("0:0:0:0:0:0:0:1", "::1"), ("1:0:0:0:0:0:0:0", "1::"),
    ("FE80:0000:0000:0000:0202:B3FF:FE1E:8329", "fe80::202:b3ff:fe1e:8329"),
    ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
  ])
  func `is written in the usual way`(text: String, expected: String) {
    #expect(IPAddress(text)?.text == expected)
  }

  @Test(arguments: [
    "", " ", "localhost", "show.example", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3",
    "256.0.0.1", "1.2.3.256", "1.2.3.1000", "-1.2.3.4", "+1.2.3.4", "01.2.3.4", "1.2.3.04",
    "0x7f.0.0.1",
    "127.1", "2130706433", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4\n", "1.2.3.4:80", "1.2.3.4/8",
    "1,2,3,4",
    "١.٢.٣.٤", "１.2.3.4", "1.2.3.a", "1.2.3.4%eth0",
  ])
  func `is not read from anything else with points`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: [
    ":", ":::", "1", "1:", ":1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1::2::3", "::1::", ":1::",
    "1:::2",
    "12345::", "00001::", "g::", "::g", "[::1]", "::1 ", " ::1", "fe80::1%eth0", "fe80::1%",
    "::1/128",
    "::1.2.3", "::1.2.3.4.5", "::256.1.1.1", "1.2.3.4::", "::1.2.3.4:5", "::ffff:1.2.3.256",
    "::01.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4", "::0x1", "::-1", "::１",
  ])
  func `is not read from anything else with colons`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: ["1.2.3.4\u{0}", "1.2.3.4\u{0}5", "::1\u{0}", "\u{0}", "\u{0}1.2.3.4"])
  func `is not read up to a NUL`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func `is not read from a long text`() {
    #expect(IPAddress(String(repeating: "1", count: 10_000)) == nil)
    #expect(IPAddress(String(repeating: "1:", count: 10_000)) == nil)
    #expect(IPAddress("1.2.3.4" + String(repeating: " ", count: 10_000)) == nil)
  }

  // RFC 1122 §3.2.1.3 (all of 127.0.0.0/8) and RFC 4291 §2.5.3.
  @Test(arguments: [
    ("127.0.0.1", true), ("127.0.0.0", true), ("127.255.255.255", true), ("::1", true),
    ("::ffff:127.0.0.1", true), ("126.255.255.255", false), ("128.0.0.0", false),
    ("0.0.0.0", false),
    ("::", false), ("::2", false), ("::127.0.0.1", false), ("1::1", false), ("7f00::1", false),
  ])
  func `may be a loopback`(text: String, isLoopback: Bool) throws {
    #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
  }

  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
    ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::"),
    ("::1", "::"), ("fe80::1", "fe80::"),
  ])
  func `belongs to a network, of 64 bits by IPv6`(text: String, network: String) throws {
    #expect(try #require(IPAddress(text)).network == IPAddress(network))
    #expect(IPAddress.networkText(of: text) == network)
  }

  @Test(arguments: ["", "unknown", "show.example", "1.2.3", "fe80::1%eth0"])
  func `stands for itself where it is none`(_ text: String) {
    #expect(IPAddress.networkText(of: text) == text)
  }

  @Test func `is the network of each of its requests and handshakes`() {
    let request = HTTPRequest(method: "GET", path: [], peerAddress: "2001:db8:1:2::7")
    let handshake = Handshake(peerAddress: "2001:db8:1:2::8")

    #expect(request.peerNetwork == "2001:db8:1:2::")
    #expect(request.peerNetwork == handshake.peerNetwork)
    #expect(Handshake(peerAddress: "192.0.2.7").peerNetwork == "192.0.2.7")
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `is read back from its text`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    for _ in 0..<500 {
      // Groups of zeros are frequent here, so that `::` occurs in every place.
      let masks = (0..<2).map { _ in
        (0..<4).reduce(UInt64(0)) { mask, _ in
          mask << 16 | (Bool.random(using: &random) ? 0xffff : 0)
        }
      }
      let address = IPAddress(
        high: random.next() & masks[0], low: random.next() & masks[1])
      let v4 = IPAddress(high: 0, low: 0xffff_0000_0000 | random.next() >> 32)

      #expect(IPAddress(address.text) == address)
      #expect(IPAddress(v4.text) == v4 && v4.isV4 && !v4.text.contains(":"))
    }
  }
}
