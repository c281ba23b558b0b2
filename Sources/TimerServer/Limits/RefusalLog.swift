import Synchronization
import TimerCore
import WebSocketTransport

/// Logs refusals, from any thread.
final class RefusalLog: Sendable {
  private let log: Log
  private let tally = Mutex(RefusalTally())

  init(_ log: Log) {
    self.log = log
  }

  /// A lock is cheap enough: a refusal is rare, and costs its sender more.
  func add(_ reason: RefusalReason) {
    if let line = tally.withLock({ $0.add(reason) }) { write([line]) }
  }

  /// Records a refusal and returns its response; nil if there is none.
  func record(_ refusal: AccessRefusal?) -> HTTPResponse? {
    guard let refusal else { return nil }
    add(.access(refusal))
    return refusal.response
  }

  /// To be called about once a second, which is when minutes end.
  func logDue(at now: Instant) {
    write(tally.withLock { $0.linesDue(at: now) })
  }

  /// Logs the rest when the server ends.
  func logRest() {
    write(tally.withLock { $0.collect() })
  }

  private func write(_ lines: [LogLine]) {
    for line in lines { log.write(line.level, line.text) }
  }
}
