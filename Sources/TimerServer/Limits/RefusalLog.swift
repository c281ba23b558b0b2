import Synchronization
import TimerCore
import WebSocketTransport

/// Tells the log what was refused, by whichever thread.
final class RefusalLog: Sendable {
  private let log: Log
  private let tally = Mutex(RefusalTally())

  init(_ log: Log) {
    self.log = log
  }

  /// Rare enough for a lock: a refusal costs whoever is refused more.
  func add(_ reason: RefusalReason) {
    if let line = tally.withLock({ $0.add(reason) }) { write([line]) }
  }

  /// What the one is answered who is refused so.
  func record(_ refusal: AccessRefusal?) -> HTTPResponse? {
    guard let refusal else { return nil }
    add(.access(refusal))
    return refusal.response
  }

  /// To be called about once a second, which is when minutes end.
  func logDue(at now: Instant) {
    write(tally.withLock { $0.linesDue(at: now) })
  }

  /// Tells the rest, at the end of the server.
  func logRest() {
    write(tally.withLock { $0.collect() })
  }

  private func write(_ lines: [LogLine]) {
    for line in lines { log.write(line.level, line.text) }
  }
}
