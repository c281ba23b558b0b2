import TestSupport
import Testing

@testable import WebSocketTransport

@Suite struct `The address of a client` {
  private static let trusted = ["10.0.0.0/8", "192.168.1.1", "fd00::/8"].compactMap {
    AddressRange($0)
  }

  /// The client's address by way of the trusted proxy 10.0.0.1, unless another peer is given.
  private func found(_ headers: [String: String], peer: String = "10.0.0.1") throws -> String {
    ClientAddress.find(headers, peer: try #require(IPAddress(peer)), trusted: Self.trusted).text
  }

  private func byForwardedFor(_ list: String) throws -> String {
    try found(["x-forwarded-for": list])
  }

  private func byForwarded(_ list: String) throws -> String { try found(["forwarded": list]) }

  @Test(arguments: ["203.0.113.7", "2001:db8::7", "127.0.0.1", "11.0.0.1", "192.168.1.2"])
  func `is the peer's, whatever a stranger says`(_ peer: String) throws {
    #expect(try found(["x-forwarded-for": "198.51.100.1"], peer: peer) == peer)
    #expect(try found(["forwarded": "for=198.51.100.1"], peer: peer) == peer)
    #expect(try found([:], peer: peer) == peer)
  }

  @Test func `is the peer's when a proxy says nothing`() throws {
    #expect(try found([:]) == "10.0.0.1")
    #expect(try found(["x-real-ip": "198.51.100.1", "via": "1.1 x"]) == "10.0.0.1")
  }

  @Test func `is nobody's but the peer's when nobody is trusted`() throws {
    let peer = try #require(IPAddress("10.0.0.1"))
    let headers = ["x-forwarded-for": "198.51.100.1"]

    #expect(ClientAddress.find(headers, peer: peer, trusted: []) == peer)
  }

  // Each proxy appends the address of its peer; everything to the left of the first untrusted address is only that
  // client's claim.
  @Test(arguments: [
    ("198.51.100.1", "198.51.100.1"), ("1.1.1.1, 198.51.100.1", "198.51.100.1"),
    ("198.51.100.1, 10.0.0.2", "198.51.100.1"),
    ("198.51.100.1, 192.168.1.1, 10.0.0.2", "198.51.100.1"),
    ("1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"), ("10.0.0.3, 198.51.100.1", "198.51.100.1"),
    ("10.0.0.3, 10.0.0.2", "10.0.0.3"), ("10.0.0.3", "10.0.0.3"),
    ("2001:db8::7, fd00::1", "2001:db8::7"),
    ("127.0.0.1", "127.0.0.1"), ("127.0.0.1, 198.51.100.1", "198.51.100.1"),
  ])
  func `is the right-most that is no trusted proxy`(list: String, expected: String) throws {
    #expect(try byForwardedFor(list) == expected)
    let elements = list.split(separator: ", ").map { $0.contains(":") ? "\"[\($0)]\"" : "\($0)" }
    #expect(try byForwarded(elements.map { "for=\($0)" }.joined(separator: ", ")) == expected)
  }

  @Test(arguments: [
    ("198.51.100.1,10.0.0.2", "198.51.100.1"), (" 198.51.100.1 ", "198.51.100.1"),
    ("198.51.100.1\t,\t10.0.0.2\t", "198.51.100.1"), ("198.51.100.1:8080", "198.51.100.1"),
    ("[2001:db8::7]", "2001:db8::7"), ("[2001:db8::7]:8080", "2001:db8::7"),
    ("2001:DB8:0::7", "2001:db8::7"), ("::ffff:198.51.100.1", "198.51.100.1"),
    ("[::ffff:198.51.100.1]:80, ::ffff:10.0.0.2", "198.51.100.1"),
  ])
  func `is read in all its spellings`(list: String, expected: String) throws {
    #expect(try byForwardedFor(list) == expected)
  }

  // An element that is no address ends the search, and so does not trust anything to the left of it.
  @Test(arguments: [
    ("unknown", "10.0.0.1"), ("_hidden", "10.0.0.1"), ("", "10.0.0.1"), (",", "10.0.0.1"),
    ("198.51.100.1, unknown", "10.0.0.1"), ("198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"),
    ("198.51.100.1, , 10.0.0.2", "10.0.0.2"), ("198.51.100.1,", "10.0.0.1"),
    ("show.example", "10.0.0.1"), ("show.example:80", "10.0.0.1"), ("198.51.100.1 2", "10.0.0.1"),
    ("[2001:db8::7", "10.0.0.1"), ("2001:db8::7]", "10.0.0.1"), ("[2001:db8::7]x", "10.0.0.1"),
    ("[]", "10.0.0.1"), ("[", "10.0.0.1"), (":80", "10.0.0.1"), ("198.51.100.256", "10.0.0.1"),
    ("198.51.100.1\u{0}", "10.0.0.1"), ("fe80::1%eth0", "10.0.0.1"), ("1:2:3", "10.0.0.1"),
  ])
  func `is the last one known before a word that is none`(list: String, expected: String) throws {
    #expect(try byForwardedFor(list) == expected)
  }

  // RFC 7239 §4 and §6.
  @Test(arguments: [
    ("for=192.0.2.43", "192.0.2.43"), ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
    ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
    ("for=192.0.2.43, for=198.51.100.17", "198.51.100.17"), ("for=\"_gazonk\"", "10.0.0.1"),
    ("for=unknown", "10.0.0.1"), ("for=_hidden, for=_SEVKISEK", "10.0.0.1"),
    ("for=\"192.0.2.43:47011\"", "192.0.2.43"),
    ("for=\"[2001:db8:cafe::17]\"", "2001:db8:cafe::17"),
    ("for=\"192.0.2.43:_port\"", "192.0.2.43"),
  ])
  func `is read of the examples of the RFC`(list: String, expected: String) throws {
    #expect(try byForwarded(list) == expected)
  }

  @Test(arguments: [
    ("FOR=192.0.2.1", "192.0.2.1"), ("proto=https;for=192.0.2.1", "192.0.2.1"),
    ("by=10.0.0.2; for=192.0.2.1 ;proto=https", "192.0.2.1"),
    ("for=192.0.2.1,for=10.0.0.2", "192.0.2.1"),
    ("host=\"a,b\";for=192.0.2.1", "192.0.2.1"),
    ("host=\"a;for=1.1.1.1\";for=192.0.2.1", "192.0.2.1"),
    ("for=1.1.1.1, for=192.0.2.1;host=\"x, for=2.2.2.2\"", "192.0.2.1"),
    ("for=1.1.1.1;host=\",\", for=192.0.2.1", "192.0.2.1"),
  ])
  func `is read of pairs in any order, and of quoted marks`(list: String, expected: String) throws {
    #expect(try byForwarded(list) == expected)
  }

  @Test(arguments: [
    "", ";", ",", "proto=https", "for", "for=", "for=\"\"", "for=\"", "forx=192.0.2.1",
    "xfor=192.0.2.1",
    "192.0.2.1", "for=192.0.2.1, by=10.0.0.2", "for=192.0.2.1, proto=https",
  ])
  func `is the peer's where the last element names nobody`(_ list: String) throws {
    #expect(try byForwarded(list) == "10.0.0.1")
  }

  // RFC 9110 §5.6.4: a quote after a backslash ends nothing. The client sent the first element, and its
  // proxy appended the second.
  @Test(arguments: [
    #"for=1.1.1.1;host="a\"b", for=198.51.100.1"#, #"for=1.1.1.1;host="\"", for=198.51.100.1"#,
    #"host="\\";for=1.1.1.1, for=198.51.100.1"#,
  ])
  func `is not hidden behind a quote in quotes`(_ list: String) throws {
    #expect(try byForwarded(list) == "198.51.100.1")
  }

  // The end of such an element is ambiguous; the client's own claim must never count.
  @Test(arguments: [
    #"for=1.1.1.1;host=", for=198.51.100.1"#, #"for=1.1.1.1;host="a, for=198.51.100.1"#,
    #"for=1.1.1.1;host="\", for=198.51.100.1"#,
  ])
  func `is not the client's own word after a quote that does not end`(_ list: String) throws {
    #expect(try byForwarded(list) != "1.1.1.1")
  }

  // Most proxies set the first field, and pass on the client's own value of the second.
  @Test func `is what X-Forwarded-For says, where there are both`() throws {
    let headers = ["x-forwarded-for": "198.51.100.1", "forwarded": "for=1.1.1.1"]

    #expect(try found(headers) == "198.51.100.1")
    #expect(try found(["x-forwarded-for": "", "forwarded": "for=1.1.1.1"]) == "10.0.0.1")
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `is what the first trusted proxy saw, whatever the client claims`(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    let claims = [
      "", "1.1.1.1", "10.0.0.9", "unknown", "x", "[", "::1", ",", "1.1.1.1:", "1.1.1.1,",
    ]
    for _ in 0..<200 {
      let claimed = (0..<Int.random(in: 0..<4, using: &random)).compactMap { _ in
        claims.randomElement(using: &random)
      }
      let proxies = (0..<Int.random(in: 0..<4, using: &random)).map { "10.1.2.\($0)" }
      let list = (claimed + ["198.51.100.1"] + proxies).joined(separator: ", ")

      #expect(try byForwardedFor(list) == "198.51.100.1", "\(list)")
    }
  }
}
