import CLibuv

/// Whether several sockets of this process listen on one port, among which the kernel spreads connections.
enum PortSharing {
  case none
  /// The socket that was there first.
  case withFurther
  /// One that joins it.
  case withFirst
}

/// The listening socket.
@safe final class TCPListener {
  private let loop: EventLoop
  // Owned by this object until `close`, from then on by libuv until its close callback frees it. The
  // loop's thread.
  private var raw: UnsafeMutablePointer<uv_tcp_t>?
  /// The port that was really bound.
  let port: Int
  var accepted: (SocketStream) -> Void = { _ in }
  /// Whether there is room for one more; until there is, who comes waits in the kernel's queue.
  var hasRoom: () -> Bool = { true }
  /// Whether somebody waits for room; libuv looks for no more until he is accepted.
  private var isHolding = false

  /// Binds and listens.
  ///
  /// libuv sets SO_REUSEADDR and not SO_REUSEPORT: a restart does not wait for old connections' TIME_WAIT,
  /// and a second server on a port in use is refused. Where loops share a port the first one binds like
  /// that too, and lets the others in only then.
  init(
    _ loop: EventLoop, address: String, port: Int, _ sharing: PortSharing = .none
  ) throws(TransportError) {
    guard (0...65_535).contains(port) else { throw .failed("no port number: \(port)") }
    self.loop = loop
    let raw = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    unsafe uv_tcp_init(loop.raw, raw)
    unsafe self.raw = raw
    let numeric = address == "localhost" ? "127.0.0.1" : address
    // The string lives for the call.
    var status = unsafe shim_bind(raw, numeric, CInt(port), sharing == .withFirst ? 1 : 0)
    if status == 0, sharing == .withFurther { status = unsafe shim_share_port(raw) }
    if status == 0 {
      // The callback runs on the loop's thread while `raw` is open, so that its data is this object.
      status = unsafe shim_listen(raw, 4_096) { handle, status in
        guard status == 0, let data = unsafe shim_data(handle) else { return }
        unsafe Unmanaged<TCPListener>.fromOpaque(data).takeUnretainedValue().accept()
      }
    }
    self.port = status == 0 ? Int(unsafe shim_bound_port(raw)) : 0
    if status != 0 {
      close()
      throw Self.error(status, address: address, port: port)
    }
    // libuv borrows this object until `close`.
    unsafe shim_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { close() }

  private static func error(_ status: CInt, address: String, port: Int) -> TransportError {
    switch status {
    case UV_EADDRINUSE.rawValue: .addressInUse(address: address, port: port)
    case UV_EADDRNOTAVAIL.rawValue, UV_EINVAL.rawValue:
      .addressNotAvailable(address: address, port: port)
    case UV_EACCES.rawValue, UV_EPERM.rawValue: .permissionDenied(address: address, port: port)
    default: .failed("cannot listen on \(address) port \(port): \(errorName(status))")
    }
  }

  private func accept() {
    isHolding = !hasRoom()
    guard !isHolding, let raw = unsafe raw,
      let stream = unsafe SocketStream(loop, acceptedFrom: raw)
    else { return }
    accepted(stream)
  }

  /// Looks again whether who waits may come in.
  func lookForRoom() {
    if isHolding { accept() }
  }

  func close() {
    guard let raw = unsafe raw else { return }
    unsafe self.raw = nil
    unsafe shim_set_data(raw, nil)
    // libuv gives the memory back here, and nobody else knows it any more.
    unsafe shim_close(raw) { handle in unsafe handle?.deallocate() }
  }
}
