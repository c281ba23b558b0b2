import CLibuv

/// Carries a WebSocket's bytes between a client's TLS session and libwebsockets, which can't adopt an established
/// session: it gets one end of a socket pair.
///
/// Each direction buffers one read of at most 64 KiB and reads no more until that is written, so that a client that
/// does not read fills libwebsockets' end of the pair.
final class TLSRelay {
  let number: UInt64
  /// The WebSocket that it carries.
  var connection: ConnectionID?
  private let outside: TLSStream
  private let inside: SocketStream
  private let inward: Flow
  private let outward: Flow
  private let ended: (TLSRelay) -> Void
  /// True if the client's data is forwarded.
  private var acceptsInput = true
  private var isOutsideOver = false
  private var isOver = false
  private var lingerExtensions = 0

  /// The number of calls at which `extendLinger` gives up.
  private static let lingerExtensionsMax = 5

  /// The send buffer of libwebsockets' end of the pair; the kernel doubles it.
  private static let pairBufferBytes: CInt = 32_768

  /// A relay for this client, and the descriptor for libwebsockets; nil without descriptors.
  static func make(
    _ loop: EventLoop, _ outside: TLSStream, number: UInt64, ended: @escaping (TLSRelay) -> Void
  ) -> (relay: TLSRelay, descriptor: CInt)? {
    var ends: (CInt, CInt) = (-1, -1)
    // Fills the two numbers lent for the call.
    let status = unsafe withUnsafeMutableBytes(of: &ends) { bytes in
      unsafe shim_socket_pair(
        bytes.baseAddress?.assumingMemoryBound(to: CInt.self), pairBufferBytes)
    }
    guard status == 0 else { return nil }
    let inside = SocketStream(loop, descriptor: ends.1)
    return (TLSRelay(outside, inside, number: number, ended: ended), ends.0)
  }

  private init(
    _ outside: TLSStream, _ inside: SocketStream, number: UInt64,
    ended: @escaping (TLSRelay) -> Void
  ) {
    self.outside = outside
    self.inside = inside
    self.number = number
    self.ended = ended
    inward = Flow(from: outside, to: inside)
    outward = Flow(from: inside, to: outside)
    // libwebsockets has closed its end. Its last bytes are still sent.
    inward.writeFailed = { [unowned self] in acceptsInput = false }
    outward.writeFailed = { [unowned self] in close() }
    outward.done = { [unowned self] in if isOutsideOver { close() } }
    outside.arrived = { [unowned self] in outsideArrived() }
    inside.arrived = { [unowned self] in outward.move() }
    outside.ended = { [unowned self] isBroken in outsideEnded(isBroken) }
    inside.ended = { [unowned self] _ in outward.sourceEnded() }
    outside.resumeReading()
    inside.resumeReading()
  }

  /// The client's own descriptor; -1 when it is gone.
  var descriptor: CInt { outside.socket.descriptor }

  /// Bytes that have come from libwebsockets and not gone out.
  var waitingByteCount: Int { isOver ? 0 : outward.waitingByteCount }

  private func outsideArrived() {
    if acceptsInput, !outward.isDone { return inward.move() }
    // Input is discarded, so that the kernel does not reset the connection before the client has read our last bytes.
    outside.input = []
    outside.resumeReading()
  }

  private func outsideEnded(_ isBroken: Bool) {
    isOutsideOver = true
    // Nothing is left to forward: the connection is broken, or both directions have ended.
    if isBroken || outward.isDone { return close() }
    inward.sourceEnded()
  }

  /// Called when the client's time to read the last bytes is over. Returns true if it gets more, because some are still
  /// unsent; otherwise closes the relay.
  func extendLinger() -> Bool {
    lingerExtensions += 1
    if !isOver, !outward.isDone, lingerExtensions < Self.lingerExtensionsMax { return true }
    close()
    return false
  }

  /// Ends both sides at once and discards unsent bytes.
  func close() {
    guard !isOver else { return }
    isOver = true
    inside.close()
    // Otherwise the kernel would go on for a client that does not read.
    outward.isDone ? outside.close() : outside.abort()
    ended(self)
  }

  /// One direction.
  private final class Flow {
    private let source: any ByteStream
    private let sink: any ByteStream
    private var isUnderWay: Bool { underWayCount > 0 }
    /// Bytes of the write under way.
    private var underWayCount = 0
    private var isSourceEnded = false
    /// True if the end of the source has been forwarded.
    private(set) var isDone = false
    var writeFailed: () -> Void = {}
    var done: () -> Void = {}

    init(from source: any ByteStream, to sink: any ByteStream) {
      self.source = source
      self.sink = sink
    }

    func move() {
      guard !isUnderWay, !isDone else { return source.pauseReading() }
      guard !source.input.isEmpty else {
        if isSourceEnded {
          isDone = true
          sink.endWriting()
          done()
        } else {
          source.resumeReading()
        }
        return
      }
      let bytes = source.input
      underWayCount = bytes.count
      source.input = []
      sink.write(bytes) { [unowned self] isSent in
        underWayCount = 0
        isSent ? move() : writeFailed()
      }
    }

    var waitingByteCount: Int { underWayCount + source.input.count }

    func sourceEnded() {
      isSourceEnded = true
      move()
    }
  }
}
