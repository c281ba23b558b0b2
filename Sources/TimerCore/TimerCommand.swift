/// A command for one timer.
public enum TimerCommand: Hashable, Sendable {
  case start(TimerStart)
  case update(TimerUpdate)
  case pause
  case resume
  case finish(resetTime: Bool)
  case reset
  case addRemainingTime(Seconds, clamp: Bool)
  case addElapsedTime(Seconds, clamp: Bool)
  /// Keeps the time elapsed as a lap.
  case lap
  /// Shows the speaker a message; nil clears it.
  case message(SpeakerText?)
  /// Gives the speaker a signal; nil clears it.
  case signal(SpeakerSignal.Kind?)
  case remove
}

/// The parameters of a start; nil keeps the present value.
public struct TimerStart: Hashable, Sendable {
  public var duration: Seconds?
  public var kind: Kind?
  public var settings: TimerUpdate
  /// Ends a run in progress, and starts another.
  public var force: Bool

  /// A countdown or a stopwatch, said outright.
  public enum Kind: String, CaseIterable, Hashable, Sendable {
    case timer, stopwatch
  }

  public init(
    duration: Seconds? = nil, kind: Kind? = nil, settings: TimerUpdate = TimerUpdate(),
    force: Bool = false
  ) {
    self.duration = duration
    self.kind = kind
    self.settings = settings
    self.force = force
  }

  /// The type of the next run, given that of the previous one.
  func type(after previous: RestoreType?) throws(TimerRefusal) -> RestoreType {
    let wanted = kind ?? (duration == nil ? nil : .timer)
    switch wanted {
    case nil: return previous ?? .stopwatch
    case .stopwatch:
      guard duration == nil else {
        throw .contradiction(
          "a stopwatch has no \"duration\"; leave it out, or say \"type\":\"timer\"")
      }
      return .stopwatch
    case .timer:
      guard let duration = duration ?? previous?.duration else {
        throw .contradiction("a countdown needs a \"duration\" in seconds, as in \"duration\":300")
      }
      return try RestoreType.countdown(duration).checked()
    }
  }
}

/// A command with the conditions under which it is to be carried out.
public struct TimerChange: Hashable, Sendable {
  public var command: TimerCommand
  /// Refused when the timer has another revision; 0 stands for a timer that does not exist.
  public var ifRevision: Int?
  /// Refused when the timer is in another run than the one that this revision began; 0 stands for no run.
  public var ifRun: Int?
  /// The instant of the press, when that was before the request came.
  public var at: Instant?

  public init(
    _ command: TimerCommand, ifRevision: Int? = nil, ifRun: Int? = nil, at: Instant? = nil
  ) {
    self.command = command
    self.ifRevision = ifRevision
    self.ifRun = ifRun
    self.at = at
  }
}
