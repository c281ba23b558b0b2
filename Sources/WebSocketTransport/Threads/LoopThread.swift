import CLibuv

/// A libuv thread, for a loop or for a blocking task.
@safe public final class LoopThread {
  // Valid from `init` to `join`; only the thread that made it joins it.
  private var raw = uv_thread_t()

  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts it; nil when the system gives no more threads.
  public init?(_ run: @escaping @Sendable () -> Void) {
    // Owned by the new thread, which releases it; libuv only carries the pointer there.
    let body = unsafe Unmanaged.passRetained(Body(run))
    let status = unsafe uv_thread_create(
      &raw,
      { pointer in
        guard let pointer = unsafe pointer else { return }
        unsafe Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
      }, body.toOpaque())
    guard status == 0 else {
      unsafe body.release()
      return nil
    }
  }

  /// Waits for its end; once.
  func join() { unsafe uv_thread_join(&raw) }
}

/// Makes one thread wait for another, when loops are made and ended.
@safe final class Semaphore: @unchecked Sendable {
  // Owned by this object; libuv lets any thread post and wait.
  private let raw: UnsafeMutablePointer<uv_sem_t>

  init() {
    unsafe raw = .allocate(capacity: 1)
    let status = unsafe uv_sem_init(raw, 0)
    precondition(status == 0, "a semaphore needs nothing but its memory")
  }

  deinit {
    unsafe uv_sem_destroy(raw)
    unsafe raw.deallocate()
  }

  func signal() { unsafe uv_sem_post(raw) }

  func wait() { unsafe uv_sem_wait(raw) }
}
