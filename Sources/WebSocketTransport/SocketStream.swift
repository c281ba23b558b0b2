import CLibuv

/// One connected socket, read and written by libuv.
@safe final class SocketStream: ByteStream {
  private let loop: EventLoop
  // Owned by this object until `close` or `release`, from then on by libuv until its close callback
  // frees it. The loop's thread.
  private var raw: UnsafeMutablePointer<uv_tcp_t>?

  var input: [UInt8] = []
  var arrived: () -> Void = {}
  var ended: (_ isBroken: Bool) -> Void = { _ in }
  let complaint: StreamComplaint? = nil
  /// The end of the one write under way.
  private var written: ((_ isSent: Bool) -> Void)?

  /// Takes the waiting connection of a listener; nil when it has gone again.
  init?(_ loop: EventLoop, acceptedFrom listener: UnsafeMutablePointer<uv_tcp_t>) {
    self.loop = loop
    let raw = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    unsafe uv_tcp_init(loop.raw, raw)
    unsafe self.raw = raw
    // libuv borrows this object until `close`; callbacks run on the loop's thread.
    unsafe shim_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
    guard unsafe shim_accept(listener, raw) == 0 else { return nil }
  }

  /// Takes over a descriptor of a connected stream socket; nil when libuv does not want it, and then it
  /// stays the caller's.
  init?(_ loop: EventLoop, descriptor: CInt) {
    self.loop = loop
    let raw = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    unsafe uv_tcp_init(loop.raw, raw)
    unsafe self.raw = raw
    // As above.
    unsafe shim_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
    // Any stream socket will do, says libuv's manual.
    guard unsafe uv_tcp_open(raw, descriptor) == 0 else { return nil }
  }

  deinit { close() }

  var isReady: Bool { unsafe raw != nil }

  /// -1 when it is closed.
  var descriptor: CInt {
    guard let raw = unsafe raw else { return -1 }
    return unsafe shim_descriptor(raw)
  }

  var peerAddress: String {
    guard let raw = unsafe raw else { return "" }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let start = text.baseAddress else { return "" }
      // Writes a terminated string of at most 46 bytes into this temporary.
      unsafe shim_peer_address(raw, start, text.count)
      return unsafe String(cString: start)
    }
  }

  /// Bounds the kernel's send buffer, and turns off waiting for larger segments.
  func tune(sendBufferBytes: Int) {
    guard let raw = unsafe raw else { return }
    unsafe shim_tune_socket(shim_descriptor(raw), CInt(sendBufferBytes))
  }

  func resumeReading() {
    guard let raw = unsafe raw else { return }
    // The room is the loop's, lent for one callback; the bytes are copied out before it returns.
    _ = unsafe shim_read_start(
      raw,
      { handle, _, buffer in
        guard let data = unsafe shim_data(handle) else { return }
        let arrivals = unsafe Unmanaged<SocketStream>.fromOpaque(data).takeUnretainedValue().loop
          .arrivals
        unsafe buffer?.pointee = uv_buf_init(arrivals.baseAddress, CUnsignedInt(arrivals.count))
      },
      { handle, count, buffer in
        guard let data = unsafe shim_data(handle) else { return }
        let stream = unsafe Unmanaged<SocketStream>.fromOpaque(data).takeUnretainedValue()
        if count > 0, let base = unsafe buffer?.pointee.base {
          unsafe stream.input.append(contentsOf: UnsafeRawBufferPointer(start: base, count: count))
          stream.arrived()
        } else if count < 0 {
          stream.pauseReading()
          stream.ended(count != Int(UV_EOF.rawValue))
        }
      })
  }

  func pauseReading() {
    guard let raw = unsafe raw else { return }
    unsafe shim_read_stop(raw)
  }

  func write(_ bytes: [UInt8], then: @escaping (_ isSent: Bool) -> Void) {
    precondition(written == nil, "a stream carries one write at a time")
    guard let raw = unsafe raw, !bytes.isEmpty else { return then(false) }
    let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    unsafe copy.copyBytes(from: bytes)
    unsafe request.pointee.data = copy.baseAddress
    written = then
    // The request and the copy belong to libuv until this callback, which frees both; it comes on the
    // loop's thread, also when the stream is closed first (its data is nil by then).
    let status = unsafe shim_write(
      request, raw, copy.baseAddress?.assumingMemoryBound(to: CChar.self), CUnsignedInt(bytes.count)
    ) { request, status in
      guard let request = unsafe request else { return }
      let data = unsafe shim_data(shim_stream_of_write(request))
      unsafe request.pointee.data?.deallocate()
      unsafe request.deallocate()
      guard let data = unsafe data else { return }
      unsafe Unmanaged<SocketStream>.fromOpaque(data).takeUnretainedValue().wrote(status == 0)
    }
    if status != 0 {
      unsafe copy.deallocate()
      unsafe request.deallocate()
      wrote(false)
    }
  }

  private func wrote(_ isSent: Bool) {
    let then = written
    written = nil
    then?(isSent)
  }

  func endWriting() {
    guard let raw = unsafe raw else { return }
    let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
    // The request belongs to libuv until this callback frees it.
    let status = unsafe shim_shutdown(request, raw) { request, _ in unsafe request?.deallocate() }
    if status != 0 { unsafe request.deallocate() }
  }

  func close() {
    guard let raw = unsafe raw else { return }
    unsafe self.raw = nil
    unsafe shim_set_data(raw, nil)
    written = nil
    // libuv gives the memory back here, and nobody else knows it any more.
    unsafe shim_close(raw) { handle in unsafe handle?.deallocate() }
  }

  /// Closes it, and lets the kernel forget what it holds for the peer.
  func abort() {
    shim_abort_on_close(descriptor)
    close()
  }

  /// Gives up the stream and answers a descriptor of the same connection, now the caller's; nil when
  /// there are no descriptors left.
  func release() -> CInt? {
    guard let raw = unsafe raw else { return nil }
    pauseReading()
    // A duplicate, because libuv closes its own and can't be talked out of it.
    let descriptor = unsafe shim_duplicate(shim_descriptor(raw))
    close()
    return descriptor >= 0 ? descriptor : nil
  }
}
