import TimerStorage
import WebSocketTransport

/// The signals that control a server's process: SIGTERM, SIGINT and SIGHUP. Before a server handles them, a request to
/// stop ends the process at once.
public struct ServerSignals: Sendable {
  fileprivate let signals: ProcessSignals
  fileprivate let end: @Sendable (ServerEnd) -> Never

  /// Takes them from here on; to be made before any other thread, which would be ended by them. `end` ends the
  /// process, on a thread of the signals', where a stop is not to be waited for any longer.
  public init(end: @escaping @Sendable (ServerEnd) -> Never) throws(ServerFailure) {
    do { signals = try ProcessSignals() } catch { throw .signals("\(error)") }
    self.end = end
  }
}

/// The result of running a server.
public enum ServerEnd: Sendable {
  /// All that was to be stored is on the disk.
  case stored
  /// The disk did not answer in time. Answered changes are stored; changes under way may be.
  case diskUnresponsive
}

extension Server {
  /// Seconds for the disk to bring the timers' files up to date, after all connections are closed.
  static let diskSeconds = 2.0
  /// Seconds from the end of the drain until the process ends in any case. The hub waits two seconds for the disk
  /// before the drain, and two more after it.
  static let endSeconds = 4.5
  /// Seconds that the process waits at its end for the reader of its log.
  static let logSeconds = 0.3

  /// Is steered by these signals from here on.
  func handleSignals(_ signals: ServerSignals) {
    let limit = drainSeconds + Self.endSeconds
    loop.handleSignals(signals.signals, stopWithin: limit) {
      [store, log, end = signals.end] reason in
      switch reason {
      case .secondSignal: log.write(.info, "stopped at once, as asked by a second signal")
      case .timedOut: log.write(.error, "not stopped within \(limit) s; ended all the same")
      }
      let unreported = store.unreportedCount
      if unreported > 0 { log.write(.error, Self.unreportedMessage(unreported)) }
      log.finish(within: Self.logSeconds)
      end(unreported > 0 ? .diskUnresponsive : .stored)
    }
  }

  /// The connections are gone; the files follow, as far as the disk does.
  func finish() -> ServerEnd {
    defer { log.finish(within: Self.logSeconds) }
    let finish = store.finish(within: Self.diskSeconds)
    // The disk's last events have no client to go to.
    logRemainingStoreEvents()
    refusals.logRest()
    switch finish {
    case .done: return .stored
    case .behind:
      log.write(
        .warning, "not every timer's file was written; the next start brings them up to date")
      return .stored
    case .unanswered:
      log.write(.error, Self.unreportedMessage(store.unreportedCount))
      return .diskUnresponsive
    }
  }

  private static func unreportedMessage(_ unreported: Int) -> String {
    "the disk does not answer; changes that it may not have, none of them answered: \(unreported)"
  }
}
