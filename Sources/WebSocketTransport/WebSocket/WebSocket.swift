import CLibuv
import CLibwebsockets

/// One established WebSocket of libwebsockets.
///
/// Valid from `WebSocketListener.established` until `WebSocketListener.closed`, when its owner has to discard it.
/// Belongs to the loop's thread.
@safe struct WebSocket {
  // Owned by libwebsockets.
  private let raw: OpaquePointer
  private let scratch: FrameBuffer
  /// The relay between libwebsockets and a TLS client.
  let relay: TLSRelay?
  private let descriptor: CInt

  init(_ raw: OpaquePointer, scratch: FrameBuffer, relay: TLSRelay?) {
    unsafe self.raw = raw
    self.scratch = scratch
    self.relay = relay
    descriptor = unsafe lws_get_socket_fd(raw)
  }

  /// True if libwebsockets still holds the tail of an earlier frame.
  var isBackedUp: Bool { unsafe lws_partial_buffered(raw) != 0 }

  /// Sends what was corked by `WebSocketContext.adopt`.
  func uncork() { shim_cork(descriptor, 0) }

  /// Closes the sending side, unless libwebsockets holds a tail, which would be lost.
  func endWriting() {
    if !isBackedUp { shim_shut_down_writing(descriptor) }
  }

  /// The number of bytes that the client has acknowledged; negative when it is unknown.
  var acknowledgedByteCount: Int64 { shim_acknowledged_bytes(clientDescriptor) }

  /// The socket of the client itself.
  private var clientDescriptor: CInt { relay?.descriptor ?? descriptor }

  /// How long the peer has sent nothing; 0 when that is unknown.
  var silenceMilliseconds: UInt64 { UInt64(max(0, shim_silence_milliseconds(clientDescriptor))) }

  /// Sends frames past libwebsockets, which costs a seventh of the whole; only while it is not backed up. The tail that
  /// the socket does not take is libwebsockets' to send, as the bytes that they are, and from then on it is backed up
  /// until they are gone. Returns the tail's size in bytes; nil when the connection is broken.
  func send(_ range: Range<Int>, of frames: WireFrames) -> Int? {
    guard let sent = frames.send(range, on: descriptor) else { return nil }
    if sent == range.count { return 0 }
    let tail = frames[range.dropFirst(sent)]
    scratch.load(tail)
    return write(tail.count, LWS_WRITE_HTTP) ? tail.count : nil
  }

  func writePing() -> Bool {
    // The payload is not empty, because libwebsockets does not report a pong without one.
    scratch.load([0x74])
    return write(1, LWS_WRITE_PING)
  }

  /// RFC 6455 §5.5: a control frame carries at most 125 bytes, two of which are the code.
  func writeClose(_ code: CloseCode, reason: String) -> Bool {
    var words = Substring(reason)
    while words.utf8.count > 123 { words.removeLast() }
    // Written as raw bytes (LWS_WRITE_RAW, a macro for LWS_WRITE_HTTP), because libwebsockets' own close uses its
    // timers, a list that it searches for each connection. It takes the peer's answer for a close by the peer: see
    // `WebSocketListener.closingByPeer`.
    let count = UInt8(2 + words.utf8.count)
    let head = [0x88, count, UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xff)]
    scratch.load(ArraySlice(head + words.utf8))
    return write(Int(count) + 2, LWS_WRITE_HTTP)
  }

  private func write(_ count: Int, _ kind: lws_write_protocol) -> Bool {
    // The buffer has LWS_PRE bytes in front, which lws fills with the frame's header. lws keeps no pointer to
    // it after the call.
    unsafe lws_write(raw, scratch.payload, count, kind) >= 0
  }

  /// Sets whether libwebsockets reads from the socket. What it has read already it keeps, and delivers when it may read
  /// again.
  func setReading(_ isReading: Bool) { _ = unsafe lws_rx_flow_control(raw, isReading ? 1 : 0) }

  /// Asks for `WebSocketListener.writeable`.
  func requestWriteable() { _ = unsafe lws_callback_on_writable(raw) }

  /// Drops the connection, which calls `WebSocketListener.closed` before it returns. Never to be called
  /// from within one of libwebsockets' callbacks.
  func kill() {
    if isBackedUp {
      // A peer that does not read: let the kernel forget what it holds for it, and let libwebsockets
      // find out by a failing write, or it would wait five seconds for the tail to go out.
      relay?.close()
      shim_abort_on_close(descriptor)
      shim_shut_down(descriptor)
      scratch.load([])
      _ = write(0, LWS_WRITE_TEXT)
    }
    unsafe shim_kill(raw)
  }
}

/// The bytes of the frame that is being sent, with room for its header in front.
@safe final class FrameBuffer {
  // Owned by this object; the loop's thread. lws_write borrows it for the call.
  private var storage: UnsafeMutableBufferPointer<UInt8>

  init() { unsafe storage = .allocate(capacity: shim_lws_pre + 4_096) }

  deinit { unsafe storage.deallocate() }

  var payload: UnsafeMutablePointer<UInt8>? {
    unsafe storage.baseAddress.map { unsafe $0 + shim_lws_pre }
  }

  func load(_ bytes: ArraySlice<UInt8>) {
    if unsafe bytes.count + shim_lws_pre > storage.count {
      unsafe storage.deallocate()
      unsafe storage = .allocate(capacity: shim_lws_pre + bytes.count * 2)
    }
    // The room is large enough, see above; the array lends its bytes for the call.
    unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe payload?.update(from: start, count: bytes.count)
    }
  }
}
