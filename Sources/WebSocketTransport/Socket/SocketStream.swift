import CLibuv

/// One connected socket, read and written by libuv.
@safe final class SocketStream: ByteStream {
  private let loop: EventLoop
  /// The descriptor before libuv has it; -1 from then on. A connection whose first bytes hold its whole request, as a
  /// WebSocket handshake does, never needs a libuv handle.
  private var unattachedDescriptor: CInt
  // Owned by this object until `close` or `release`, from then on by libuv until its close callback
  // frees it. The loop's thread.
  private var raw: UnsafeMutablePointer<uv_tcp_t>?
  private var isPaused = true

  var input: [UInt8] = []
  var arrived: () -> Void = {}
  var ended: (_ isBroken: Bool) -> Void = { _ in }
  let fault: StreamFault? = nil
  /// The end of the one write under way.
  private var writeCompletion: ((_ isSent: Bool) -> Void)?

  /// Takes over the descriptor of a connected stream socket that does not block.
  init(_ loop: EventLoop, descriptor: CInt) {
    self.loop = loop
    unattachedDescriptor = descriptor
  }

  deinit { close() }

  private var isReady: Bool { unsafe unattachedDescriptor >= 0 || raw != nil }

  /// -1 when it is closed.
  var descriptor: CInt {
    guard let raw = unsafe raw else { return unattachedDescriptor }
    return unsafe shim_descriptor(raw)
  }

  var unsentByteCount: Int {
    guard let raw = unsafe raw else { return 0 }
    return unsafe shim_unsent(raw)
  }

  var acknowledgedByteCount: Int64 { shim_acknowledged_bytes(descriptor) }

  /// libuv's handle; nil when it is closed, and it is closed when libuv does not want it.
  private func handle() -> UnsafeMutablePointer<uv_tcp_t>? {
    if let raw = unsafe raw { return unsafe raw }
    guard unattachedDescriptor >= 0 else { return nil }
    let raw = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    unsafe uv_tcp_init(loop.raw, raw)
    // libuv borrows this object until `close`; callbacks run on the loop's thread.
    unsafe shim_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
    unsafe self.raw = raw
    // libuv accepts any stream socket here, by its manual.
    guard unsafe uv_tcp_open(raw, unattachedDescriptor) == 0 else {
      close()
      return nil
    }
    unattachedDescriptor = -1
    return unsafe raw
  }

  func resumeReading() {
    guard isReady else { return }
    isPaused = false
    if unattachedDescriptor >= 0, !readAtOnce() { return }
    guard let raw = unsafe handle() else { return ended(true) }
    // The room is the loop's, lent for one callback; the bytes are copied out before it returns.
    _ = unsafe shim_read_start(
      raw,
      { handle, _, buffer in
        guard let data = unsafe shim_data(handle) else { return }
        let readBuffer = unsafe Unmanaged<SocketStream>.fromOpaque(data).takeUnretainedValue().loop
          .readBuffer
        unsafe buffer?.pointee = uv_buf_init(readBuffer.baseAddress, CUnsignedInt(readBuffer.count))
      },
      { handle, count, buffer in
        guard let data = unsafe shim_data(handle) else { return }
        let stream = unsafe Unmanaged<SocketStream>.fromOpaque(data).takeUnretainedValue()
        if count > 0, let base = unsafe buffer?.pointee.base {
          unsafe stream.receive(UnsafeRawBufferPointer(start: base, count: count))
        } else if count < 0 {
          stream.pauseReading()
          stream.ended(count != Int(UV_EOF.rawValue))
        }
      })
  }

  /// Takes what is there already; whether more is to be waited for.
  private func readAtOnce() -> Bool {
    // The room is the loop's, and the bytes are copied out of it right away.
    let count = unsafe shim_receive(
      unattachedDescriptor, loop.readBuffer.baseAddress, loop.readBuffer.count)
    switch count {
    case 1...:
      unsafe receive(
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(loop.readBuffer)[..<count]))
    case -1: break
    default:
      isPaused = true
      ended(count < 0)
    }
    return isReady && !isPaused
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    unsafe input.append(contentsOf: bytes)
    arrived()
  }

  func pauseReading() {
    isPaused = true
    guard let raw = unsafe raw else { return }
    unsafe shim_read_stop(raw)
  }

  func write(_ bytes: [UInt8], then: @escaping (_ isSent: Bool) -> Void) {
    precondition(writeCompletion == nil, "a stream carries one write at a time")
    guard !bytes.isEmpty, let raw = unsafe handle() else { return then(false) }
    let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    unsafe copy.copyBytes(from: bytes)
    unsafe request.pointee.data = copy.baseAddress
    writeCompletion = then
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
      unsafe Unmanaged<SocketStream>.fromOpaque(data).takeUnretainedValue().writeCompleted(
        status == 0)
    }
    if status != 0 {
      unsafe copy.deallocate()
      unsafe request.deallocate()
      writeCompleted(false)
    }
  }

  private func writeCompleted(_ isSent: Bool) {
    let then = writeCompletion
    writeCompletion = nil
    then?(isSent)
  }

  func endWriting() {
    guard let raw = unsafe handle() else { return }
    let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
    // The request belongs to libuv until this callback frees it.
    let status = unsafe shim_shutdown(request, raw) { request, _ in unsafe request?.deallocate() }
    if status != 0 { unsafe request.deallocate() }
  }

  func close() {
    if unattachedDescriptor >= 0 { shim_close_descriptor(unattachedDescriptor) }
    unattachedDescriptor = -1
    guard let raw = unsafe raw else { return }
    unsafe self.raw = nil
    unsafe shim_set_data(raw, nil)
    writeCompletion = nil
    // libuv frees the memory here; there are no other references to it.
    unsafe shim_close(raw) { handle in unsafe handle?.deallocate() }
  }

  func abort() {
    shim_abort_on_close(descriptor)
    close()
  }

  /// Gives up the stream and returns a descriptor of the same connection, which the caller then owns; nil when there
  /// are no descriptors left.
  func release() -> CInt? {
    if unattachedDescriptor >= 0 {
      defer { unattachedDescriptor = -1 }
      return unattachedDescriptor
    }
    guard let raw = unsafe raw else { return nil }
    pauseReading()
    // A duplicate, because libuv always closes its own descriptor.
    let descriptor = unsafe shim_duplicate(shim_descriptor(raw))
    close()
    return descriptor >= 0 ? descriptor : nil
  }
}
