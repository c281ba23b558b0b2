import CLibuv
import Synchronization

/// A queue of messages from other threads to a loop: they post, the loop drains. No other way leads into a loop.
///
/// `ServiceLoop.listen(to:)` attaches it to a loop, which then emits `TransportEvent.woken` after a post;
/// several posts may share one `woken`. Posting is safe from any thread, before the loop runs and after
/// it is gone; then messages only queue.
public final class Mailbox<Message: Sendable>: Sendable {
  private struct Contents {
    var messages: [Message] = []
    var waker: LoopWaker?
  }

  private let contents = Mutex(Contents())

  /// Makes an empty mailbox that no loop listens to.
  public init() {}

  /// Puts a message at the end; any thread.
  public func post(_ message: Message) {
    let waker = contents.withLock { contents -> LoopWaker? in
      contents.messages.append(message)
      // One wake-up is enough until the next `drain`.
      return contents.messages.count == 1 ? contents.waker : nil
    }
    waker?.wake()
  }

  /// Wakes the loop without a message; any thread.
  public func wake() {
    contents.withLock { $0.waker }?.wake()
  }

  /// Takes out everything that was posted, in order.
  public func drain() -> [Message] {
    contents.withLock { contents in
      let messages = contents.messages
      contents.messages = []
      return messages
    }
  }

  /// Wakes this loop at the next post, and at once if there are messages already.
  func attach(_ waker: LoopWaker) {
    let hasMessages = contents.withLock { contents -> Bool in
      contents.waker = waker
      return !contents.messages.isEmpty
    }
    if hasMessages { waker.wake() }
  }
}

/// Wakes one loop from any thread, as long as there is one.
@safe final class LoopWaker: Sendable {
  @safe private struct Handle: @unchecked Sendable {
    // Owned by the waker until `close`, from then on by libuv until its close callback frees it. uv_async_send is the
    // one libuv function that any thread may call; the lock keeps it from meeting a closed handle.
    var raw: UnsafeMutablePointer<uv_async_t>?
  }

  private let handle: Mutex<Handle>
  private let isWakePending = Atomic(false)

  init(_ loop: EventLoop) {
    let raw = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    // The callback has nothing to do: it ends the loop's wait, and the next iteration calls `consumeWake`.
    unsafe uv_async_init(loop.raw, raw) { _ in }
    handle = Mutex(unsafe Handle(raw: raw))
  }

  deinit { close() }

  func wake() {
    isWakePending.store(true, ordering: .releasing)
    handle.withLock { handle in
      guard let raw = unsafe handle.raw else { return }
      _ = unsafe uv_async_send(raw)
    }
  }

  /// Returns whether the loop was woken since the last call. The loop's thread.
  func consumeWake() -> Bool { isWakePending.exchange(false, ordering: .acquiring) }

  /// The loop's thread, before the loop goes.
  func close() {
    handle.withLock { handle in
      guard let raw = unsafe handle.raw else { return }
      unsafe handle.raw = nil
      // libuv frees the memory here; there are no other references to it.
      unsafe shim_close(raw) { handle in unsafe handle?.deallocate() }
    }
  }
}
