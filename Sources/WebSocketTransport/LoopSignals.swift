import CLibuv

/// Signals, as calls on the loop's thread.
@safe final class LoopSignals {
  private let arrived: (CInt) -> Void
  // Owned by this object until `close`, from then on by libuv until their close callbacks free them.
  private var handles: [UnsafeMutablePointer<uv_signal_t>] = unsafe []

  init(_ loop: EventLoop, _ signals: [CInt], arrived: @escaping (_ signal: CInt) -> Void) {
    self.arrived = arrived
    for signal in signals {
      let raw = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
      unsafe uv_signal_init(loop.raw, raw)
      // libuv borrows this object until `close`; the callback runs on the loop's thread.
      unsafe shim_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
      unsafe uv_signal_start(
        raw,
        { handle, signal in
          guard let data = unsafe shim_data(handle) else { return }
          unsafe Unmanaged<LoopSignals>.fromOpaque(data).takeUnretainedValue().arrived(signal)
        }, signal)
      unsafe handles.append(raw)
    }
  }

  deinit { close() }

  func close() {
    while let raw = unsafe handles.popLast() {
      unsafe shim_set_data(raw, nil)
      // libuv gives the memory back here, and nobody else knows it any more.
      unsafe shim_close(raw) { handle in unsafe handle?.deallocate() }
    }
  }
}
