import CLibuv

/// A call before each wait of the loop and one after it, outside of all other callbacks.
@safe final class IterationHook {
  private let run: () -> Void
  // Owned by this object until `close`, from then on by libuv until their close callbacks free them.
  private var before: UnsafeMutablePointer<uv_prepare_t>?
  private var after: UnsafeMutablePointer<uv_check_t>?

  init(_ loop: EventLoop, run: @escaping () -> Void) {
    self.run = run
    let before = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    let after = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
    unsafe self.before = before
    unsafe self.after = after
    unsafe uv_prepare_init(loop.raw, before)
    unsafe uv_check_init(loop.raw, after)
    // libuv borrows this object until `close`; the callbacks run on the loop's thread.
    unsafe shim_set_data(before, Unmanaged.passUnretained(self).toOpaque())
    unsafe shim_set_data(after, Unmanaged.passUnretained(self).toOpaque())
    unsafe uv_prepare_start(before) { handle in unsafe IterationHook.call(shim_data(handle)) }
    unsafe uv_check_start(after) { handle in unsafe IterationHook.call(shim_data(handle)) }
  }

  deinit { close() }

  private static func call(_ data: UnsafeMutableRawPointer?) {
    guard let data = unsafe data else { return }
    unsafe Unmanaged<IterationHook>.fromOpaque(data).takeUnretainedValue().run()
  }

  func close() {
    guard let before = unsafe before, let after = unsafe after else { return }
    unsafe self.before = nil
    unsafe self.after = nil
    unsafe shim_set_data(before, nil)
    unsafe shim_set_data(after, nil)
    // libuv frees the memory here; there are no other references to it.
    unsafe shim_close(before) { handle in unsafe handle?.deallocate() }
    unsafe shim_close(after) { handle in unsafe handle?.deallocate() }
  }
}
