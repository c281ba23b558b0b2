/// What a shared timer is apart from its runs.
public struct TimerSettings: Hashable, Sendable {
  /// What the next run counts; a countdown's duration here is the starting one, without what was added.
  public var type: RestoreType
  public var atZero: AtZero
  public var title: String
  /// Remaining times at which displays warn, as they were given.
  public var warnings: [Seconds]

  public init(
    type: RestoreType, atZero: AtZero = .overtime, title: String = "", warnings: [Seconds] = []
  ) {
    self.type = type
    self.atZero = atZero
    self.title = title
    self.warnings = warnings
  }

  /// The same settings with the given ones in place of theirs.
  func changed(by update: TimerUpdate) -> TimerSettings {
    TimerSettings(
      type: type, atZero: update.atZero ?? atZero, title: update.title ?? title,
      warnings: update.warnings ?? warnings)
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

  /// Whether it would change nothing.
  public var isEmpty: Bool {
    self == TimerUpdate()
  }
}
