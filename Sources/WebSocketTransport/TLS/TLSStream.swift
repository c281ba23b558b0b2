/// A connection that speaks TLS, by OpenSSL, on a socket of libuv's.
final class TLSStream: ByteStream {
  private enum Phase {
    /// Nothing has come yet.
    case fresh
    case secure
    /// The client does not speak TLS: bytes pass as they are, for an answer in plain text.
    case plain
    case broken
  }

  let socket: SocketStream
  private let session: TLSSession
  private var phase = Phase.fresh
  private(set) var fault: StreamFault?

  var input: [UInt8] = []
  var arrived: () -> Void = {}
  var ended: (_ isBroken: Bool) -> Void = { _ in }
  private var isOver = false
  private var wantsInput = false

  /// Bytes given to `write` that are not encrypted yet.
  private var outgoing: ArraySlice<UInt8> = []
  private var writeCompletion: ((_ isSent: Bool) -> Void)?
  private var isSending = false
  private var isEnding = false

  /// The limit on bytes that OpenSSL produces by itself for a peer that does not read (RFC 8446 §4.6.3).
  private static let pendingMax = 65_536

  init(_ socket: SocketStream, session: TLSSession) {
    self.socket = socket
    self.session = session
    socket.arrived = { [unowned self] in receive() }
    socket.ended = { [unowned self] isBroken in end(isBroken) }
  }

  private var isReady: Bool {
    switch phase {
    case .fresh, .broken: false
    case .plain: true
    case .secure: session.isEstablished
    }
  }

  var unsentByteCount: Int {
    outgoing.count + session.pendingCount + socket.unsentByteCount
  }

  var acknowledgedByteCount: Int64 { socket.acknowledgedByteCount }

  func resumeReading() {
    wantsInput = true
    if session.pendingCount < Self.pendingMax { socket.resumeReading() }
  }

  func pauseReading() {
    wantsInput = false
    socket.pauseReading()
  }

  private func receive() {
    if phase == .fresh, let first = socket.input.first {
      // RFC 8446 §5.1: a TLS connection begins with a record of type 22.
      phase = first == 22 ? .secure : .plain
      if phase == .plain { fault = .notTLS }
    }
    switch phase {
    case .secure: decrypt()
    case .plain:
      input += socket.input
      socket.input = []
      arrived()
    case .fresh, .broken: socket.input = []
    }
  }

  private func decrypt() {
    let countBefore = input.count
    let bytes = socket.input
    socket.input = []
    let outcome = session.decrypt(bytes, into: &input)
    send()
    if input.count > countBefore { arrived() }
    switch outcome {
    case .open: if session.pendingCount >= Self.pendingMax { socket.pauseReading() }
    case .closed: end(false)
    case .failed(let why):
      phase = .broken
      fault = .failed(why)
      end(true)
    }
  }

  private func end(_ isBroken: Bool) {
    guard !isOver else { return }
    isOver = true
    socket.pauseReading()
    ended(isBroken)
  }

  func write(_ bytes: [UInt8], then: @escaping (_ isSent: Bool) -> Void) {
    precondition(writeCompletion == nil, "a stream carries one write at a time")
    if phase == .plain { return socket.write(bytes, then: then) }
    guard isReady, !bytes.isEmpty else { return then(false) }
    outgoing = bytes[...]
    writeCompletion = then
    send()
  }

  /// Gives the socket what is to go out, a part at a time.
  private func send() {
    guard !isSending else { return }
    while !outgoing.isEmpty, session.pendingCount < Self.pendingMax {
      guard session.write(outgoing.prefix(16_384)) else { return finishWrite(isSent: false) }
      outgoing = outgoing.dropFirst(16_384)
    }
    let bytes = session.drainPending()
    guard !bytes.isEmpty else {
      if isEnding { return socket.endWriting() }
      return finishWrite(isSent: true)
    }
    isSending = true
    socket.write(bytes) { [unowned self] isSent in
      isSending = false
      guard isSent else { return finishWrite(isSent: false) }
      if wantsInput, !isOver { socket.resumeReading() }
      send()
    }
  }

  private func finishWrite(isSent: Bool) {
    outgoing = []
    let then = writeCompletion
    writeCompletion = nil
    then?(isSent)
  }

  func endWriting() {
    guard phase != .plain else { return socket.endWriting() }
    isEnding = true
    session.endWriting()
    send()
  }

  func close() {
    writeCompletion = nil
    isOver = true
    socket.close()
  }

  func abort() {
    writeCompletion = nil
    isOver = true
    socket.abort()
  }
}
