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
    next.atZero = update.atZero ?? atZero
    next.title = update.title ?? title
    next.warnings = update.warnings ?? warnings
    return next
  }

  /// Refuses a countdown too short for what it is to do at zero.
  func checked() throws(TimerRefusal) -> TimerSettings {
    if atZero == .repeat, let duration = type.duration, duration < TimerLimits.repeatDurationMin {
      throw .outOfRange(field: "duration", limit: TimerLimits.repeatDurationMin)
    }
    return self
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
