import CLibuv

/// How a socket shares its port with other sockets of this process, among which the kernel spreads connections.
enum PortSharing {
  case none
  /// The socket that was there first.
  case firstSocket
  /// One that joins it.
  case additionalSocket
}

/// A listening socket.
@safe final class TCPListener {
  private let descriptor: CInt
  // Owned by this object until `close`, from then on by libuv until its close callback frees it. The
  // loop's thread.
  private var raw: UnsafeMutablePointer<uv_poll_t>?
  /// The port that was really bound.
  let port: Int
  var accepted: (_ descriptor: CInt, IPAddress) -> Void = { _, _ in }
  /// Returns whether there is room for one more connection. Until there is, new connections wait in the kernel's queue.
  var canAccept: () -> Bool = { true }
  /// Called when the process is out of descriptors. The owner calls `resumeAccepting` later.
  var outOfDescriptors: () -> Void = {}
  /// True while accepting is paused, and libuv does not watch the socket.
  private var isPaused = false

  /// Connections accepted in a row before existing connections get their events.
  private static let acceptedAtOnce = 64

  /// Binds and listens.
  ///
  /// With SO_REUSEADDR and without SO_REUSEPORT: a restart does not wait for old connections' TIME_WAIT, and a
  /// second server on a port in use is refused. Where loops share a port the first one binds like that too,
  /// and lets the others in only then.
  init(
    _ loop: EventLoop, address: String, port: Int, isV6Only: Bool, sendBufferBytes: Int,
    _ sharing: PortSharing
  ) throws(TransportError) {
    guard (0...65_535).contains(port) else { throw .failed("no port number: \(port)") }
    // The string lives for the call.
    let made = unsafe shim_listen(
      address, CInt(port), sharing == .additionalSocket ? 1 : 0, sharing == .firstSocket ? 1 : 0,
      isV6Only ? 1 : 0, 4_096, CInt(sendBufferBytes))
    guard made >= 0 else { throw Self.error(made, address: address, port: port) }
    descriptor = made
    self.port = Int(shim_bound_port(made))
    let raw = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    // `raw` is fresh memory of the right size, which uv_poll_init fills.
    guard unsafe uv_poll_init(loop.raw, raw, made) == 0 else {
      unsafe raw.deallocate()
      shim_close_descriptor(made)
      throw .failed("cannot watch the socket of port \(self.port)")
    }
    unsafe self.raw = raw
    // libuv borrows this object until `close`.
    unsafe shim_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
    startAccepting()
  }

  deinit { close() }

  private func startAccepting() {
    guard let raw = unsafe raw else { return }
    // The callback runs on the loop's thread while `raw` is open, so that its data is this object.
    unsafe uv_poll_start(raw, CInt(UV_READABLE.rawValue)) { handle, _, _ in
      guard let data = unsafe shim_data(handle) else { return }
      unsafe Unmanaged<TCPListener>.fromOpaque(data).takeUnretainedValue().accept()
    }
  }

  private static func error(_ status: CInt, address: String, port: Int) -> TransportError {
    switch status {
    case UV_EADDRINUSE.rawValue: .addressInUse(address: address, port: port)
    // The second is of a machine without IPv6.
    case UV_EADDRNOTAVAIL.rawValue, UV_EAFNOSUPPORT.rawValue, UV_EINVAL.rawValue:
      .addressNotAvailable(address: address, port: port)
    case UV_EACCES.rawValue, UV_EPERM.rawValue: .permissionDenied(address: address, port: port)
    default: .failed("cannot listen on \(address) port \(port): \(errorName(status))")
    }
  }

  private func accept() {
    for _ in 0..<Self.acceptedAtOnce {
      guard unsafe raw != nil else { return }
      guard canAccept() else { return pauseAccepting() }
      var words: (UInt64, UInt64) = (0, 0)
      // Writes 16 bytes, which are lent for the call.
      let socket = unsafe withUnsafeMutableBytes(of: &words) { bytes in
        unsafe shim_accept(descriptor, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
      }
      guard socket >= 0 else {
        guard socket == -2 else { return }
        pauseAccepting()
        return outOfDescriptors()
      }
      accepted(socket, IPAddress(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1)))
    }
  }

  private func pauseAccepting() {
    guard let raw = unsafe raw, !isPaused else { return }
    isPaused = true
    unsafe uv_poll_stop(raw)
  }

  /// Accepts connections again if there is room.
  func resumeAccepting() {
    guard isPaused, canAccept() else { return }
    isPaused = false
    startAccepting()
  }

  func close() {
    guard let raw = unsafe raw else { return }
    unsafe self.raw = nil
    unsafe shim_set_data(raw, nil)
    unsafe uv_poll_stop(raw)
    shim_close_descriptor(descriptor)
    // libuv frees the memory here; there are no other references to it.
    unsafe shim_close(raw) { handle in unsafe handle?.deallocate() }
  }
}
