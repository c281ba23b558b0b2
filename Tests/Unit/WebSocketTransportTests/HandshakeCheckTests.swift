import Testing

@testable import WebSocketTransport

@Suite struct `A handshake` {
  /// RFC 6455 §1.3.
  private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
  private static let fields = [
    "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
  ]

  /// The fields of a valid handshake, with other values for one name; nil leaves that field out.
  private func fields(_ name: String, _ value: String?) -> [String] {
    Self.fields.filter { !$0.hasPrefix("\(name):") } + (value.map { ["\(name): \($0)"] } ?? [])
  }

  private func verdict(
    _ fields: [String] = Self.fields, line: String = "GET /ws HTTP/1.1",
    options: TransportOptions = TransportOptions()
  ) throws -> HandshakeCheck.Verdict {
    let head = try #require(try head(of: request(line, fields)))
    return HandshakeCheck.examine(head, peerAddress: "192.0.2.7", options: options)
  }

  /// The response to a malformed handshake; nil for any other response.
  private func refusal(
    _ fields: [String] = Self.fields, line: String = "GET /ws HTTP/1.1"
  ) throws -> HTTPResponse? {
    guard case .malformed(let response) = try verdict(fields, line: line) else { return nil }
    return response
  }

  /// The request of a handshake that is accepted.
  private func accepted(
    _ verdict: HandshakeCheck.Verdict
  ) throws -> (handshake: Handshake, key: String, subprotocol: String?) {
    guard case .accepted(let handshake, let key, let subprotocol) = verdict else {
      throw NotAccepted(verdict: verdict)
    }
    return (handshake, key, subprotocol)
  }

  private struct NotAccepted: Error {
    let verdict: HandshakeCheck.Verdict
  }

  private func value(_ name: String, in response: HTTPResponse?) -> String? {
    response?.headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  // RFC 6455 §1.2.
  @Test func `is accepted as in the RFC's example`() throws {
    let fields =
      Self.fields + [
        "Origin: http://example.com", "Sec-WebSocket-Protocol: chat, timersync.v1",
      ]

    let (handshake, key, subprotocol) = try accepted(
      try verdict(fields, line: "GET /ws?timer=tea&timer=a%20b HTTP/1.1"))

    #expect(key == Self.key)
    #expect(subprotocol == "timersync.v1")
    let expected = Handshake(
      query: [QueryItem("timer", "tea"), QueryItem("timer", "a b")],
      headers: ["host": "server.example.com", "origin": "http://example.com"],
      peerAddress: "192.0.2.7", subprotocols: ["chat", "timersync.v1"])
    #expect(handshake == expected)
  }

  @Test func `needs no more than the RFC asks for`() throws {
    let (handshake, _, subprotocol) = try accepted(try verdict())

    #expect(subprotocol == nil)
    #expect(handshake.query == [] && handshake.subprotocols == [])
  }

  // RFC 6455 §4.2.1: without regard to case, and among other words of a list.
  @Test(arguments: [
    ("Upgrade", "WebSocket"), ("Upgrade", "h2c, websocket"), ("Connection", "upgrade"),
    ("Connection", "keep-alive, Upgrade"), ("Connection", "UPGRADE,close"),
    ("Sec-WebSocket-Version", " 13 "),
  ])
  func `is accepted in all spellings`(name: String, value: String) throws {
    #expect(try refusal(fields(name, value)) == nil)
  }

  // RFC 9110 §15.5.6: the methods that are allowed are named.
  @Test(arguments: ["HEAD", "POST", "PUT", "OPTIONS", "DELETE"])
  func `is refused by any other method`(_ method: String) throws {
    let refusal = try refusal(line: "\(method) /ws HTTP/1.1")

    #expect(refusal?.status == 405)
    #expect(value("Allow", in: refusal) == "GET")
  }

  // RFC 6455 §4.1: HTTP/1.1 or higher.
  @Test func `is refused by HTTP 1.0`() throws {
    #expect(try refusal(line: "GET /ws HTTP/1.0")?.status == 400)
  }

  // RFC 9110 §15.5.22: the answer says to what.
  @Test(
    arguments: [
      ("Upgrade", nil), ("Upgrade", "h2c"), ("Upgrade", "websockets"), ("Upgrade", ""),
      ("Connection", nil), ("Connection", "keep-alive"), ("Connection", "close"),
      ("Connection", "upgraded"), ("Connection", ""),
    ] as [(String, String?)])
  func `is told to ask for an upgrade`(name: String, value: String?) throws {
    let refusal = try refusal(fields(name, value))

    #expect(refusal?.status == 426)
    #expect(self.value("Upgrade", in: refusal) == "websocket")
    #expect(self.value("Connection", in: refusal) == "Upgrade")
  }

  // RFC 6455 §4.2.2 and §4.4: the answer names the version that is spoken.
  @Test(
    arguments: [nil, "", "8", "0", "12", "14", "013", "13.0", "13, 8", "8, 13", "x"] as [String?])
  func `is told which version is spoken`(_ version: String?) throws {
    let refusal = try refusal(fields("Sec-WebSocket-Version", version))

    #expect(refusal?.status == 426)
    #expect(value("Sec-WebSocket-Version", in: refusal) == "13")
  }

  // RFC 6455 §4.1: 16 bytes in base64.
  @Test(arguments: [
    "dGhlIHNhbXBsZSBub25jZQ==", "AAAAAAAAAAAAAAAAAAAAAA==", "/////////////////////w==",
    "++++++++++++++++++++AA==", "abcdefghijklmnopqrstuA==", "ABCDEFGHIJKLMNOPQRSTUA==",
    "0123456789+/012345678w==",
  ])
  func `has a key of 16 bytes`(_ key: String) throws {
    let (_, handed, _) = try accepted(try verdict(fields("Sec-WebSocket-Key", key)))

    #expect(handed == key)
  }

  @Test(
    arguments: [
      nil, "", "x", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=",
      "dGhlIHNhbXBsZSBub25jZQ===",
      "dGhlIHNhbXBsZSBub25jZUE=", "dGhlIHNhbXBsZSBub25jZUFB", "dGhlIHNhbXBsZSBub25jZ===",
      "dGhlIHNhbXBsZSBub25j====", "dGhlIHNhbXBsZSBub25jZ Q==", "dGhlIHNhbXBsZSBub2-jZQ==",
      "dGhlIHNhbXBsZSBub2_jZQ==", "dGhlIHNhbXBsZSBub2=jZQ==", "dGhlIHNhbXBsZSBubéjZQ==",
      "dGhlIHNhbXBsZSBub25jZQ==AAAA", "AAAAdGhlIHNhbXBsZSBub25jZQ==", "========================",
    ] as [String?])
  func `is refused with any other key`(_ key: String?) throws {
    #expect(try refusal(fields("Sec-WebSocket-Key", key))?.status == 400)
  }

  @Test(arguments: ["timer=%ff", "%C3", "a=b&c=%80"])
  func `is refused with a query that is no UTF-8`(_ query: String) throws {
    #expect(try refusal(line: "GET /ws?\(query) HTTP/1.1")?.status == 400)
  }

  // RFC 6455 §4.2.2: one of those that the client asked for, or none at all.
  @Test(
    arguments: [
      ("", nil), (",", nil), ("timersync.v1", "timersync.v1"),
      ("chat, timersync.v1", "timersync.v1"), ("timersync.v1,chat", "timersync.v1"),
    ] as [(String, String?)])
  func `may name the subprotocol`(list: String, chosen: String?) throws {
    let verdict = try verdict(Self.fields + ["Sec-WebSocket-Protocol: \(list)"])

    #expect(try accepted(verdict).subprotocol == chosen)
  }

  @Test func `may name subprotocols in several fields`() throws {
    let fields =
      Self.fields + ["Sec-WebSocket-Protocol: a", "Sec-WebSocket-Protocol: timersync.v1"]

    let (handshake, _, subprotocol) = try accepted(try verdict(fields))

    #expect(handshake.subprotocols == ["a", "timersync.v1"])
    #expect(subprotocol == "timersync.v1")
  }

  @Test(arguments: ["chat", "timersync.v2", "TIMERSYNC.V1", "timersync", "a, b", "timersync.v1.1"])
  func `is refused when it names others only`(_ list: String) throws {
    let refusal = try refusal(Self.fields + ["Sec-WebSocket-Protocol: \(list)"])

    #expect(refusal?.status == 400)
    let words = String(decoding: refusal?.body ?? [], as: UTF8.self)
    #expect(words.contains("timersync.v1"))
  }

  @Test func `is for the subprotocol of the options`() throws {
    var options = TransportOptions()
    options.subprotocol = "chat"
    let verdict = try verdict(Self.fields + ["Sec-WebSocket-Protocol: chat"], options: options)

    #expect(try accepted(verdict).subprotocol == "chat")
  }

  @Test func `is not admitted when the server says so`() throws {
    var options = TransportOptions()
    options.admission = { handshake in
      handshake.headers["origin"] == "http://evil.example" ? HTTPResponse(status: 403) : nil
    }

    let evil = try verdict(Self.fields + ["Origin: http://evil.example"], options: options)
    let good = try verdict(Self.fields + ["Origin: http://good.example"], options: options)

    guard case .notAdmitted(let response) = evil else {
      Issue.record("admitted: \(evil)")
      return
    }
    #expect(response.status == 403)
    #expect(try accepted(good).handshake.headers["origin"] == "http://good.example")
  }

  // A malformed handshake does not learn whether it would have been admitted.
  @Test func `is asked about only when it is none that is malformed`() throws {
    var options = TransportOptions()
    options.admission = { _ in HTTPResponse(status: 403) }

    let verdict = try verdict(fields("Sec-WebSocket-Key", "x"), options: options)

    guard case .malformed(let response) = verdict else {
      Issue.record("not malformed: \(verdict)")
      return
    }
    #expect(response.status == 400)
  }

  @Test func `hands on no other header`() throws {
    let (handshake, _, _) = try accepted(
      try verdict(Self.fields + ["Cookie: a=b", "X-Forwarded-For: 198.51.100.1"]))

    let expected = ["host": "server.example.com", "x-forwarded-for": "198.51.100.1"]
    #expect(handshake.headers == expected)
  }
}
