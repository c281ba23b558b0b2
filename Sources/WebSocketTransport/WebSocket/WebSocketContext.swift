import CLibuv
import CLibwebsockets
import Foundation

/// The callbacks of libwebsockets, on the loop's thread. `WebSocket.kill` must not be called from within them.
protocol WebSocketListener: AnyObject {
  /// The upgrade asked for by `WebSocketContext.adopt` is done; returns the connection's number, which is not 0.
  func established(_ socket: WebSocket) -> UInt64
  /// A piece of a data message; false ends the connection.
  func received(_ piece: borrowing Span<UInt8>, isBinary: Bool, isLast: Bool, number: UInt64)
  /// A pong arrived.
  func receivedPong(number: UInt64)
  /// The peer sent a close frame; whether the connection is to end now, without an answer.
  func closingByPeer(number: UInt64) -> Bool
  /// libwebsockets has begun to close by itself; nothing may be written any more.
  func closingByLibrary(number: UInt64)
  /// There is room in the socket; false ends the connection.
  func writeable(number: UInt64) -> Bool
  /// The connection is gone.
  func closed(number: UInt64)
}

/// A libwebsockets context that runs on this module's event loop.
@safe final class WebSocketContext {
  private let loop: EventLoop
  private let scratch = FrameBuffer()
  /// The relay of the socket that is being adopted.
  private var relay: TLSRelay?
  weak var listener: (any WebSocketListener)?
  // All owned by this object and alive as long as the context, which borrows them; the loop's thread.
  private var context: UnsafeMutablePointer<OpaquePointer?>
  private let protocols: UnsafeMutablePointer<lws_protocols>
  private let retry: UnsafeMutablePointer<lws_retry_bo>
  private let loops: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  private let name: UnsafeMutablePointer<CChar>?

  /// No descriptor that is adopted has a number of `descriptorsMax` or more.
  init(_ loop: EventLoop, subprotocol: String, descriptorsMax: Int) throws(TransportError) {
    // Without it libwebsockets does not start, and takes the process with it.
    guard FileManager.default.isReadableFile(atPath: "/dev/urandom") else {
      throw .failed("/dev/urandom can't be read, but is needed; is /dev mounted, as in a chroot?")
    }
    self.loop = loop
    unsafe context = .allocate(capacity: 1)
    unsafe context.initialize(to: nil)
    unsafe protocols = .allocate(capacity: 2)
    unsafe retry = .allocate(capacity: 1)
    unsafe loops = .allocate(capacity: 1)
    unsafe loops.initialize(to: UnsafeMutableRawPointer(loop.raw))
    unsafe name = strdup(subprotocol)
    // The context borrows this object until `close`.
    let made = unsafe shim_create_context(
      protocols, retry, loops,
      { wsi, reason, session, bytes, count in
        guard let wsi = unsafe wsi, let context = unsafe lws_get_context(wsi),
          let user = unsafe lws_context_user(context)
        else { return 0 }
        let owner = unsafe Unmanaged<WebSocketContext>.fromOpaque(user).takeUnretainedValue()
        return unsafe owner.dispatch(wsi, reason, session, bytes, count)
      }, name, Unmanaged.passUnretained(self).toOpaque(), descriptorsMax, context)
    guard let made = unsafe made else {
      throw .failed(
        "libwebsockets did not start; is its libuv plugin (libwebsockets-evlib-uv) installed?")
    }
    unsafe context.pointee = made
  }

  deinit {
    close()
    unsafe context.deallocate()
    unsafe protocols.deallocate()
    unsafe retry.deallocate()
    unsafe loops.deallocate()
    unsafe free(name)
  }

  /// Ends libwebsockets; connections that are left are dropped.
  func close() {
    guard let first = unsafe context.pointee else { return }
    // On a foreign loop the first call closes lws's handles, the loop's next iterations finish that, and the second
    // call frees the context. lws sets `context` to nil when it has freed it by itself.
    unsafe lws_context_destroy(first)
    for _ in 0..<100 { loop.runOnce() }
    if let second = unsafe context.pointee { unsafe lws_context_destroy(second) }
    unsafe context.pointee = nil
  }

  /// Hands a connected socket to libwebsockets (`lws_adopt_socket`), once its handshake has been read and checked. The
  /// descriptor belongs to libwebsockets from here on, also if this fails.
  ///
  /// libwebsockets sees a handshake that we make, not the client's: it would accept version 12, POST and short keys,
  /// and decode the path before it splits it. `pipelinedInput` is what the client sent after its handshake; `relay` has
  /// the descriptor's other end if it is one of a pair.
  func adopt(
    _ descriptor: CInt, key: String, subprotocol: String?, pipelinedInput: [UInt8],
    relay: TLSRelay? = nil
  ) {
    self.relay = relay
    defer { self.relay = nil }
    guard let context = unsafe context.pointee,
      let vhost = unsafe lws_get_vhost_by_name(context, "default")
    else { return }
    var text = """
      GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n
      """
    if let subprotocol { text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
    text += "\r\n"
    let bytes = Array(text.utf8) + pipelinedInput
    // The server's first messages share a segment with the response to the handshake. On a socket pair this does
    // nothing.
    shim_cork(descriptor, 1)
    // lws copies the bytes, and upgrades the connection before this returns.
    let wsi = unsafe bytes.withUnsafeBytes { bytes in
      unsafe lws_adopt_socket_vhost_readbuf(
        vhost, descriptor, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    // lws looks at what came ahead at the next event of this socket only; so make one.
    if let wsi = unsafe wsi, !pipelinedInput.isEmpty { _ = unsafe lws_callback_on_writable(wsi) }
  }

  /// One callback of libwebsockets. `session` is 8 bytes of its own for this connection, in which we
  /// keep the connection's number; `bytes` are lent for the call.
  private func dispatch(
    _ wsi: OpaquePointer, _ reason: lws_callback_reasons, _ session: UnsafeMutableRawPointer?,
    _ bytes: UnsafeMutableRawPointer?, _ count: Int
  ) -> CInt {
    guard let listener, let session = unsafe session?.assumingMemoryBound(to: UInt64.self) else {
      return 0
    }
    let number = unsafe session.pointee
    if reason == LWS_CALLBACK_ESTABLISHED {
      unsafe session.pointee = listener.established(
        WebSocket(wsi, scratch: scratch, relay: relay))
      return 0
    }
    guard number != 0 else { return 0 }
    switch reason {
    case LWS_CALLBACK_RECEIVE:
      let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)
      unsafe listener.received(
        Span(_bytes: piece.bytes), isBinary: lws_frame_is_binary(wsi) != 0,
        isLast: lws_is_final_fragment(wsi) != 0, number: number)
      return 0
    case LWS_CALLBACK_RECEIVE_PONG: listener.receivedPong(number: number)
    case LWS_CALLBACK_SERVER_WRITEABLE: return listener.writeable(number: number) ? 0 : -1
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
      return listener.closingByPeer(number: number) ? -1 : 0
    case LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL: listener.closingByLibrary(number: number)
    case LWS_CALLBACK_CLOSED, LWS_CALLBACK_WSI_DESTROY: listener.closed(number: number)
    default: break
    }
    return 0
  }
}
