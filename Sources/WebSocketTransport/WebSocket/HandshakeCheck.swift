/// Checks a WebSocket handshake before libwebsockets sees any of it.
enum HandshakeCheck {
  enum Verdict {
    case accepted(Handshake, key: String, subprotocol: String?)
    /// The handshake breaks RFC 6455, or asks for another version or subprotocol.
    case malformed(HTTPResponse)
    /// The handshake is valid, but the client is not admitted.
    case notAdmitted(HTTPResponse)
  }

  /// RFC 6455 §4.2.1, and our own rules.
  static func examine(_ head: HTTPHead, peerAddress: String, options: TransportOptions) -> Verdict {
    guard head.method == "GET" else {
      return .malformed(
        HTTPReply.plain(405, "WebSocket handshakes use GET.", [HTTPHeader("Allow", "GET")]))
    }
    guard head.isVersion11 else {
      return .malformed(HTTPReply.plain(400, "WebSocket handshakes use HTTP/1.1."))
    }
    guard head.wantsWebSocket,
      head.list("connection").contains(where: { $0.lowercased() == "upgrade" })
    else {
      return .malformed(upgradeRequired("This is a WebSocket endpoint: send `Upgrade: websocket`."))
    }
    guard head.headers["sec-websocket-version"] == "13" else {
      return .malformed(upgradeRequired("This server supports Sec-WebSocket-Version 13."))
    }
    guard let key = head.headers["sec-websocket-key"], isKey(key) else {
      return .malformed(
        HTTPReply.plain(400, "Sec-WebSocket-Key must be 16 bytes in base64, 24 characters."))
    }
    guard let query = QueryString.decode(head.query) else {
      return .malformed(HTTPReply.plain(400, "The query is not UTF-8."))
    }
    let subprotocols = head.list("sec-websocket-protocol")
    let isOffered = subprotocols.contains(options.subprotocol)
    guard subprotocols.isEmpty || isOffered else {
      return .malformed(
        HTTPReply.plain(
          400, "Leave Sec-WebSocket-Protocol out, or include \(options.subprotocol)."))
    }
    let handshake = Handshake(
      query: query, headers: head.headersKept, peerAddress: peerAddress, subprotocols: subprotocols)
    if let refusal = options.admission(handshake) { return .notAdmitted(refusal) }
    return .accepted(handshake, key: key, subprotocol: isOffered ? options.subprotocol : nil)
  }

  private static func upgradeRequired(_ line: String) -> HTTPResponse {
    HTTPReply.plain(
      426, line,
      [
        HTTPHeader("Upgrade", "websocket"), HTTPHeader("Connection", "Upgrade"),
        HTTPHeader("Sec-WebSocket-Version", "13"),
      ])
  }

  /// 16 bytes in base64: 22 digits and two `=`, of whose last digit two bits count.
  private static func isKey(_ key: String) -> Bool {
    let bytes = Array(key.utf8)
    return bytes.count == 24 && bytes[22...].allSatisfy { $0 == UInt8(ascii: "=") }
      && bytes[..<22].allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
          true
        default: false
        }
      }
  }
}
