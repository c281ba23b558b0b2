import CLibuv

/// One libuv timer, which fires once each time it is set.
@safe final class LoopTimer {
  private let loop: EventLoop
  private let fire: () -> Void
  // Owned by this object until `close`, from then on by libuv until its close callback frees it.
  private var raw: UnsafeMutablePointer<uv_timer_t>?

  init(_ loop: EventLoop, fire: @escaping () -> Void) {
    self.loop = loop
    self.fire = fire
    let raw = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    unsafe self.raw = raw
    unsafe uv_timer_init(loop.raw, raw)
    // libuv borrows this object until `close`, which `deinit` calls at the latest.
    unsafe shim_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { close() }

  /// Fires at this instant of the loop's clock, instead of the one set before.
  func set(atMilliseconds due: UInt64) {
    loop.refreshNow()
    let now = loop.nowMilliseconds
    guard let raw = unsafe raw else { return }
    // The callback runs on the loop's thread while `raw` is open, so that its data is this object.
    unsafe uv_timer_start(
      raw,
      { handle in
        guard let data = unsafe shim_data(handle) else { return }
        unsafe Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().fire()
      }, due > now ? due - now : 0, 0)
  }

  /// Fires this many microseconds from now, or from an instant of `uv_hrtime`: never early, and less than a
  /// millisecond late.
  func set(afterMicroseconds delay: Int64, from nanoseconds: UInt64 = uv_hrtime()) {
    // uv_now is uv_hrtime in whole milliseconds, rounded down; so round the sum up.
    let (due, overflow) = UInt64(max(0, delay)).multipliedReportingOverflow(by: 1_000)
    set(atMilliseconds: overflow ? .max / 2 : (nanoseconds &+ due &+ 999_999) / 1_000_000)
  }

  func cancel() {
    guard let raw = unsafe raw else { return }
    unsafe uv_timer_stop(raw)
  }

  func close() {
    guard let raw = unsafe raw else { return }
    unsafe self.raw = nil
    unsafe shim_set_data(raw, nil)
    // libuv frees the memory here; there are no other references to it.
    unsafe shim_close(raw) { handle in unsafe handle?.deallocate() }
  }
}
