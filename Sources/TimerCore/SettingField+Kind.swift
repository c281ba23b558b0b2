extension SettingField {
  /// The type of a setting's value, its place, and its limits.
  public enum Kind: Sendable {
    /// A countdown or a stopwatch, with a `duration` beside it. A start gives it, and states show that of the run.
    case type
    case atZero(SettingPlace<AtZero>)
    case text(SettingPlace<String>, bytesMax: Int)
    case lengths(SettingPlace<[Seconds]>, countMax: Int)
    /// Given by a command of its own, which adds the instant.
    case message
    /// Given by a command of its own, which adds the instant.
    case signal
  }
}

// MARK: - Where they are

extension SettingField {
  /// Those that `start` and `update` give.
  public static let inRequests = allCases.filter(\.isInRequests)

  /// Those that a state shows as they are; its type is that of the run.
  public static let inStates = allCases.filter { $0 != .type }

  /// Those that a file keeps: a person who opens it sees the title first.
  public static let inFiles = [.title] + allCases.filter { $0 != .title }

  private var isInRequests: Bool {
    switch kind {
    case .atZero, .text, .lengths: true
    case .type, .message, .signal: false
    }
  }
}

/// Where a setting is kept: its property in the settings, and in an update of them.
///
/// A key path costs a tenth of a microsecond: readers of requests and files use it, writers don't.
public struct SettingPlace<Value: Sendable>: Sendable {
  public let settings: any WritableKeyPath<TimerSettings, Value> & Sendable
  public let update: any WritableKeyPath<TimerUpdate, Value?> & Sendable

  init(
    _ settings: any WritableKeyPath<TimerSettings, Value> & Sendable,
    _ update: any WritableKeyPath<TimerUpdate, Value?> & Sendable
  ) {
    self.settings = settings
    self.update = update
  }

  /// Puts a new value in the place of the old one; nil leaves it as it is.
  func apply(_ change: TimerUpdate, to values: inout TimerSettings) {
    guard let value = change[keyPath: update] else { return }
    values[keyPath: settings] = value
  }
}
