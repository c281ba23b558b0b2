/// The table of a timer's settings: requests, states, files and fingerprints all go by it.
///
/// A setting has one name everywhere: in `start` and `update`, in a URL's query, in a state and in a timer's file. A
/// new one is a case with its row in `kind`, a property in `TimerSettings` and `TimerUpdate`, which has the default,
/// and the line that writes it, which the compiler asks for.
public enum SettingField: String, CaseIterable, Sendable {
  case type, atZero, title, warnings, message, signal

  /// The type of its value, its limits, and its place.
  public var kind: Kind {
    switch self {
    case .type: .type
    case .atZero: .atZero(SettingPlace(\.atZero, \.atZero))
    case .title: .text(SettingPlace(\.title, \.title), bytesMax: TimerLimits.titleBytesMax)
    case .warnings:
      .lengths(SettingPlace(\.warnings, \.warnings), countMax: TimerLimits.warningsMax)
    case .message: .message
    case .signal: .signal
    }
  }

  /// The name, on the wire and on the disk.
  public var name: String { rawValue }
}

/// A shared timer's settings, which outlast its runs.
public struct TimerSettings: Hashable, Sendable {
  /// The type of the next run; a countdown's duration is the starting one, without added time.
  public var type: RestoreType
  public var atZero: AtZero
  public var title: String
  /// Remaining times at which displays warn, as they were given.
  public var warnings: [Seconds]
  /// The message for the speaker; it is independent of the run, and outlasts it.
  public var message: SpeakerMessage?
  public var signal: SpeakerSignal?

  public init(
    type: RestoreType, atZero: AtZero = .overtime, title: String = "", warnings: [Seconds] = [],
    message: SpeakerMessage? = nil, signal: SpeakerSignal? = nil
  ) {
    self.type = type
    self.atZero = atZero
    self.title = title
    self.warnings = warnings
    self.message = message
    self.signal = signal
  }

  /// The same settings with the given ones in place of theirs.
  func changed(by update: TimerUpdate) -> TimerSettings {
    var next = self
    for field in SettingField.inRequests {
      switch field.kind {
      case .atZero(let place): place.apply(update, to: &next)
      case .text(let place, _): place.apply(update, to: &next)
      case .lengths(let place, _): place.apply(update, to: &next)
      case .type, .message, .signal: break
      }
    }
    return next
  }

  /// Refuses a countdown too short for what it is to do at zero.
  func checked() throws(TimerRefusal) -> TimerSettings {
    if restartsTooSoon {
      throw .outOfRange(field: "duration", limit: TimerLimits.repeatDurationMin)
    }
    return self
  }

  /// True if it is a countdown that restarts by itself more often than allowed.
  public var restartsTooSoon: Bool {
    guard atZero.restarts, let duration = type.duration else { return false }
    return duration < TimerLimits.repeatDurationMin
  }
}

/// Settings to change; nil leaves one as it is.
public struct TimerUpdate: Hashable, Sendable {
  public var atZero: AtZero?
  public var title: String?
  public var warnings: [Seconds]?

  public init(atZero: AtZero? = nil, title: String? = nil, warnings: [Seconds]? = nil) {
    self.atZero = atZero
    self.title = title
    self.warnings = warnings
  }

  /// True if the update changes nothing.
  public var isEmpty: Bool {
    self == TimerUpdate()
  }
}
