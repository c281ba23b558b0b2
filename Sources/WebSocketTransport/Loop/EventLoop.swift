import CLibuv

/// libuv's loop: made, run and freed on one thread.
@safe final class EventLoop {
  // Owned by this object from `init` to `deinit`; touched by the loop's thread only.
  let raw: UnsafeMutablePointer<uv_loop_t>
  // Where every stream's bytes arrive before they are copied into that stream's own buffer, within
  // one callback. Same owner, same thread.
  let readBuffer: UnsafeMutableBufferPointer<CChar>

  init() throws(TransportError) {
    shim_ignore_broken_pipes()
    unsafe raw = .allocate(capacity: 1)
    unsafe readBuffer = .allocate(capacity: 65_536)
    // `raw` is fresh memory of the right size, which uv_loop_init fills.
    let status = unsafe uv_loop_init(raw)
    guard status == 0 else { throw .failed("no event loop: \(errorName(status))") }
  }

  deinit {
    // All handles have been closed by their owners; their close callbacks run here, and then the loop can be closed.
    // The limit is for a handle that was not closed.
    var rounds = 0
    while unsafe uv_loop_close(raw) != 0, rounds < 1_000 {
      unsafe uv_run(raw, UV_RUN_NOWAIT)
      rounds += 1
    }
    unsafe raw.deallocate()
    unsafe readBuffer.deallocate()
  }

  /// The loop's idea of now, as of the begin of this iteration.
  var nowMilliseconds: UInt64 { unsafe uv_now(raw) }

  func refreshNow() { unsafe uv_update_time(raw) }

  /// Runs until `stop`.
  func run() { _ = unsafe uv_run(raw, UV_RUN_DEFAULT) }

  /// Makes `run` return after this iteration.
  func stop() { unsafe uv_stop(raw) }

  /// Runs what is due, without waiting.
  func runOnce() { _ = unsafe uv_run(raw, UV_RUN_NOWAIT) }
}

/// `EADDRINUSE: address already in use`.
func errorName(_ status: CInt) -> String {
  // libuv answers static strings for the codes that it made itself.
  guard let name = unsafe uv_err_name(status), let words = unsafe uv_strerror(status) else {
    return "error \(status)"
  }
  return unsafe "\(String(cString: name)): \(String(cString: words))"
}
