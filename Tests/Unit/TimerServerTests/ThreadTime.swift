import Foundation

/// The processor time of this thread, without that of other threads and programs.
enum ThreadTime {
  /// The least time that a piece of work takes in several tries.
  static func least(_ work: () -> Void) -> Duration {
    (0..<20).map { _ in of(work) }.min() ?? .zero
  }

  /// The time of a piece of work, done once.
  static func of(_ work: () -> Void) -> Duration {
    let start = now()
    work()
    return now() - start
  }

  private static func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
