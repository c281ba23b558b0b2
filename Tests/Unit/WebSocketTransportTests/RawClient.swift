import Foundation

/// A WebSocket client on a blocking socket, which reads only when the test calls it.
final class RawClient {
  private let descriptor: Int32

  /// Connects and shakes hands; nothing waits longer than half a minute.
  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = in_port_t(port).bigEndian
    name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let status = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Fault("connect: \(errno)") }
    let handshake =
      "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    try write(Array(handshake.utf8))
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try read(1) }
    guard head.starts(with: "HTTP/1.1 101".utf8) else { throw Fault("not let in") }
  }

  deinit { close(descriptor) }

  struct Fault: Error {
    let words: String
    init(_ words: String) { self.words = words }
  }

  /// Sends a text of up to 125 bytes, masked with zeros.
  func send(_ text: String) throws {
    try write([0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + text.utf8)
  }

  /// Sends several such texts at once.
  func send(_ texts: [String]) throws {
    try write(texts.flatMap { [0x81, 0x80 | UInt8($0.utf8.count), 0, 0, 0, 0] + $0.utf8 })
  }

  /// The next text of up to 125 bytes.
  func text() throws -> String {
    let (opcode, payload) = try frame()
    guard opcode == 1 else { throw Fault("opcode \(opcode)") }
    return String(decoding: payload, as: UTF8.self)
  }

  /// The code of the close frame that comes next.
  func closeCode() throws -> Int {
    let (opcode, payload) = try frame()
    guard opcode == 8, payload.count >= 2 else { throw Fault("opcode \(opcode)") }
    return Int(payload[0]) << 8 | Int(payload[1])
  }

  /// Answers a close frame, and reads to the end.
  func partWithAnswer() throws {
    try write([0x88, 0x80, 0, 0, 0, 0])
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) > 0 {}
  }

  private func frame() throws -> (opcode: UInt8, payload: [UInt8]) {
    let head = try read(2)
    return (head[0] & 0xf, try read(Int(head[1])))
  }

  private func write(_ bytes: [UInt8]) throws {
    guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    else { throw Fault("send: \(errno)") }
  }

  private func read(_ count: Int) throws -> [UInt8] {
    var bytes = Array(repeating: UInt8(0), count: count)
    guard count == 0 || recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count else {
      throw Fault("recv: \(errno)")
    }
    return bytes
  }
}
