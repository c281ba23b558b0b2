import Foundation
import Synchronization

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
  private let time: Mutex<Date>

  init(_ start: Date = Date(timeIntervalSince1970: 1_764_480_000.25)) {
    time = Mutex(start)
  }

  var now: Date { time.withLock { $0 } }

  func advance(_ seconds: TimeInterval) {
    time.withLock { $0 += seconds }
  }
}

extension Date {
  static func + (date: Date, seconds: Double) -> Date { date.addingTimeInterval(seconds) }
}

/// The URL of a folder for one test, which is removed with this.
final class TestFolder: Sendable {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("timersync-\(UUID().uuidString)", isDirectory: true)

  deinit { try? FileManager.default.removeItem(at: url) }
}

/// Defaults for one test, which are removed with this.
final class TestDefaults {
  let defaults: UserDefaults
  private let suite = "timersync-\(UUID().uuidString)"

  init() {
    guard let defaults = UserDefaults(suiteName: suite) else {
      preconditionFailure("a test needs defaults")
    }
    self.defaults = defaults
  }

  deinit {
    defaults.removePersistentDomain(forName: suite)
    _ = defaults.synchronize()
    let file = FileManager.default.homeDirectoryForCurrentUser
      .appendingPathComponent(".config/\(suite).plist")
    try? FileManager.default.removeItem(at: file)
  }
}
