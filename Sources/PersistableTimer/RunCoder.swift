import Foundation
import Synchronization
import TimerCore

/// Runs as JSON. It remembers the last one, since most that is read is what was written just before.
final class RunCoder: Sendable {
  private let last = Mutex<(contents: Data, run: RestoreTimerData)?>(nil)

  func encode(_ run: RestoreTimerData) throws -> Data {
    let contents = try JSONEncoder().encode(run)
    last.withLock { $0 = (contents, run) }
    return contents
  }

  func decode(_ contents: Data, of key: TimerKey) throws -> RestoreTimerData {
    if let last = last.withLock({ $0 }), last.contents == contents { return last.run }
    do {
      let run = try JSONDecoder().decode(RestoreTimerData.self, from: contents)
      last.withLock { $0 = (contents, run) }
      return run
    } catch {
      throw TimerDataError.damagedRecord(id: key.id, reason: "\(error)")
    }
  }
}
