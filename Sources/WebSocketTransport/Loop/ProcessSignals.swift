import CLibuv
import Synchronization

/// The signals that control the process: SIGTERM and SIGINT ask it to stop, SIGHUP asks it to reload its files.
///
/// A thread of their own waits for them, so that they arrive whatever the other threads do. Until a loop handles
/// signals, a request to stop ends the process at once with code 0, and a request to reload waits. From then on the
/// loop gets the requests. The process ends without the loop at a second request to stop, or when the stop times out.
/// SIGPIPE, SIGXFSZ, SIGUSR1 and SIGUSR2 are ignored.
public final class ProcessSignals: Sendable {
  /// A request to the loop.
  enum Request: Sendable {
    case stop, reload
  }

  /// Why the process does not wait for its stop to be done.
  public enum ForcedStop: Sendable {
    /// A second signal asked for it.
    case secondSignal
    /// The stop took too long.
    case timedOut
  }

  /// The way to end a process that is serving.
  private struct StopPolicy: Sendable {
    let timeout: UInt64
    let end: @Sendable (ForcedStop) -> Never
  }

  private struct State {
    var policy: StopPolicy?
    /// When the stop that was asked for has to be done, by `uv_hrtime`.
    var deadline: UInt64?
  }

  let requests = Mailbox<Request>()
  private let state = Mutex(State())

  /// Takes the signals from here on. To be made before any other thread, which would be ended by them.
  public init() throws(TransportError) {
    shim_ignore_stray_signals()
    shim_block_steering_signals()
    // It lives as long as the process.
    guard LoopThread({ self.waitForSignals() }) != nil else {
      throw .failed("no thread for signals")
    }
  }

  /// From here on requests are the loop's. `end` is called on the signals' thread: at a second request to stop, or
  /// `seconds` after the first.
  func deliver(stopWithin seconds: Double, end: @escaping @Sendable (ForcedStop) -> Never) {
    let timeout = UInt64(min(max(0, seconds), 1e9) * 1e9)
    state.withLock { $0.policy = StopPolicy(timeout: timeout, end: end) }
  }

  private func waitForSignals() -> Never {
    while true {
      let deadline = state.withLock { $0.deadline }
      let signal = shim_wait_for_signal(Self.nanoseconds(until: deadline))
      switch signal {
      case SIGHUP: requests.post(.reload)
      case SIGTERM, SIGINT: stop()
      default: break
      }
      if let deadline, uv_hrtime() >= deadline { end(.timedOut) }
    }
  }

  /// The time until a deadline. Without one the wait is an hour, after which it is begun again.
  private static func nanoseconds(until deadline: UInt64?) -> UInt64 {
    guard let deadline else { return 3_600_000_000_000 }
    let now = uv_hrtime()
    return deadline > now ? deadline - now : 0
  }

  private func stop() {
    let isFirst = state.withLock { state in
      guard let policy = state.policy, state.deadline == nil else { return false }
      state.deadline = uv_hrtime() + policy.timeout
      return true
    }
    guard isFirst else { end(.secondSignal) }
    requests.post(.stop)
  }

  private func end(_ reason: ForcedStop) -> Never {
    if let policy = state.withLock({ $0.policy }) { policy.end(reason) }
    // Nothing was served, so no answered change can be lost.
    shim_exit_at_once(0)
  }
}
