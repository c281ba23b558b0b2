import Testing

@testable import WebSocketTransport

@Suite struct `The addresses to listen on` {
  func texts(_ given: String...) -> [String] { ListenAddresses(given).entries.map(\.text) }

  @Test func `are those that were given, each once`() {
    #expect(texts("127.0.0.1") == ["127.0.0.1"])
    #expect(texts("127.0.0.2", "::1", "127.0.0.2") == ["127.0.0.2", "::1"])
    #expect(texts("::1", "0:0:0:0:0:0:0:1") == ["::1"])
    #expect(texts("::ffff:127.0.0.1", "127.0.0.1") == ["127.0.0.1"])
  }

  @Test func `are both loopbacks for localhost, of which that of IPv6 may be missing`() {
    let entries = ListenAddresses(["localhost"]).entries

    #expect(entries.map(\.text) == ["127.0.0.1", "::1"])
    #expect(entries.map(\.isOptional) == [false, true])
    #expect(texts("localhost", "LocalHost") == ["127.0.0.1", "::1"])
  }

  @Test func `do without none that was named`() {
    for given in [["localhost", "::1"], ["::1", "localhost"]] {
      #expect(ListenAddresses(given).entries.allSatisfy { !$0.isOptional })
    }
  }

  @Test func `leave out what all of a kind hold`() {
    #expect(texts("127.0.0.1", "0.0.0.0") == ["0.0.0.0"])
    #expect(texts("0.0.0.0", "::1", "10.0.0.1") == ["0.0.0.0", "::1"])
    #expect(texts("localhost", "::", "fe80::1%eth0") == ["127.0.0.1", "::"])
    #expect(texts("0.0.0.0", "::") == ["0.0.0.0", "::"])
  }

  @Test func `take IPv4 by IPv6 only when nothing else does`() {
    #expect(!ListenAddresses(["::"]).isV6Only)
    #expect(ListenAddresses(["::", "0.0.0.0"]).isV6Only)
    #expect(ListenAddresses(["127.0.0.1", "::"]).isV6Only)
  }

  @Test func `are handed on when they are none`() {
    #expect(texts("timer.example") == ["timer.example"])
  }
}
