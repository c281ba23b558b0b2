/// A named timer that many share: its settings and, once it was started, a run.
public struct SharedTimer: Hashable, Sendable {
  public let id: TimerID
  /// Grows with each change, in one count over all timers of a server.
  public var revision: Int
  public var settings: TimerSettings
  /// nil: idle, not begun.
  public var run: RestoreTimerData?
  /// The revision that began the run, which identifies the run; nil without a run, and until the change that begins it
  /// has its revision. A repeat continues the same run.
  public var runRevision: Int?
  /// A stopwatch's elapsed time at each press in this run, oldest first; none is less than the one before.
  public var laps: [Seconds]
  /// The zero of this run that was announced; nil while the crossing is still to come.
  public var endedAt: Instant?
  /// When it last changed, the crossing of zero included.
  public var changedAt: Instant
  /// When what the run counts last changed: its start, a pause, added time, an end. Titles, messages and laps leave it
  /// as it is, so a press from before them still counts from its own instant.
  public var runChangedAt: Instant

  /// Without a `runChangedAt` of its own the run last changed when the timer did.
  public init(
    id: TimerID, revision: Int = 0, settings: TimerSettings, run: RestoreTimerData? = nil,
    runRevision: Int? = nil, laps: [Seconds] = [], endedAt: Instant? = nil, changedAt: Instant,
    runChangedAt: Instant? = nil
  ) {
    self.id = id
    self.revision = revision
    self.settings = settings
    self.run = run
    self.runRevision = runRevision
    self.laps = laps
    self.endedAt = endedAt
    self.changedAt = changedAt
    self.runChangedAt = runChangedAt ?? changedAt
  }

  /// The same timer as the change of this revision made it; a run that it began is known by it from now on.
  public func numbered(_ revision: Int) -> SharedTimer {
    var next = self
    next.revision = revision
    if run != nil, runRevision == nil { next.runRevision = revision }
    return next
  }

  /// True if a run is in progress.
  public var isActive: Bool {
    run.map { $0.status != .finished } ?? false
  }

  /// True if time passes for it.
  public var isRunning: Bool {
    run?.status == .running
  }

  /// The type of the current run, or of the next one.
  public var type: RestoreType {
    run?.type ?? settings.type
  }

  /// The time added to the starting duration in this run.
  public var addedTime: Seconds {
    guard let duration = run?.type.duration, let starting = settings.type.duration else {
      return .zero
    }
    return duration - starting
  }
}

// MARK: - Commands

extension SharedTimer {
  /// Returns the timer `id` after a change at `now`; nil when it is removed.
  ///
  /// The revision stays as it is; the caller assigns the new one.
  public static func applying(
    _ change: TimerChange, to timer: SharedTimer?, id: TimerID, now: Instant
  ) throws(TimerRefusal) -> SharedTimer? {
    if let expected = change.ifRevision, expected != timer?.revision ?? 0 {
      throw .revisionMismatch(current: timer?.revision ?? 0)
    }
    if let expected = change.ifRun, expected != timer?.runRevision ?? 0 {
      throw .runMismatch
    }
    let press = try instant(of: change, to: timer, now: now)
    if case .start(let start) = change.command {
      return try starting(start, after: timer, id: id, at: press)
    }
    guard let timer else { throw change.command.refusalWithoutTimer }
    return try timer.applying(change.command, at: press)
  }

  /// The instant of a change: that of the press, if it is given and plausible.
  private static func instant(
    of change: TimerChange, to timer: SharedTimer?, now: Instant
  ) throws(TimerRefusal) -> Instant {
    guard let press = change.at else { return now }
    let earliest = max(
      now - TimerLimits.pressAgeMax, timer?.runChangedAt ?? now - TimerLimits.pressAgeMax)
    guard press >= earliest, press <= now else {
      throw .pressOutOfRange(earliest: min(earliest, now), latest: now)
    }
    return press
  }

  private static func starting(
    _ start: TimerStart, after timer: SharedTimer?, id: TimerID, at now: Instant
  ) throws(TimerRefusal) -> SharedTimer {
    if let timer, timer.isActive, !start.force { throw .timerAlreadyStarted }
    let type = try start.type(after: timer?.settings.type)
    var settings = timer?.settings ?? TimerSettings(type: type)
    settings.type = type
    settings = try settings.changed(by: start.settings).checked()
    return SharedTimer(
      id: id, revision: timer?.revision ?? 0, settings: settings,
      run: RestoreTimerData(type, startingAt: now),
      changedAt: max(now, timer?.changedAt ?? now), runChangedAt: now)
  }

  private func applying(
    _ command: TimerCommand, at now: Instant
  ) throws(TimerRefusal) -> SharedTimer? {
    let now = command.stopsCount ? clampedToLastLap(now) : now
    var next = self
    // A press that a title or a message has overtaken counts from its own instant, and the timer's last change stays
    // the later of the two.
    next.changedAt = max(now, changedAt)
    if command.changesRun { next.runChangedAt = now }
    switch command {
    case .start, .remove: return nil
    case .update(let update): next.settings = try settings.changed(by: update).checked()
    case .pause: next.run = try startedRun().paused(at: now)
    case .resume: next.run = try startedRun().resumed(at: now)
    case .finish(let resetTime):
      next.run = try startedRun().finished(at: now, resetTime: resetTime)
      // A run that shows nothing counted has no laps of it either.
      if resetTime { next.laps = [] }
    case .reset:
      _ = try startedRun()
      next.run = nil
      next.runRevision = nil
      next.laps = []
      next.endedAt = nil
    case .addRemainingTime(let seconds, let clamp):
      next.run = try startedRun().addingRemaining(seconds, at: now, clamp: clamp)
      // The new time left is zero or more: another zero is to come.
      next.endedAt = nil
    case .addElapsedTime(let seconds, let clamp):
      next.run = try startedRun().addingElapsed(
        seconds, at: now, notBelow: laps.last ?? .zero, clamp: clamp)
    case .lap:
      let lap = try startedRun().lap(at: now, after: laps)
      // A press that came late over a slow network is sorted in among those that overtook it.
      next.laps.insert(lap, at: (laps.lastIndex { $0 <= lap } ?? -1) + 1)
    case .message(let text):
      next.settings.message = text.map { SpeakerMessage($0, sentAt: now) }
    case .signal(let kind): next.settings.signal = kind.map { SpeakerSignal($0, sentAt: now) }
    }
    return next
  }

  /// A press that stops the count before the last lap counts as at that lap, so that the laps stay true.
  private func clampedToLastLap(_ press: Instant) -> Instant {
    guard isRunning, let run, let last = laps.last else { return press }
    return press + max(.zero, last - run.elapsed(at: press))
  }

  private func startedRun() throws(TimerRefusal) -> RestoreTimerData {
    guard let run else { throw .timerHasNotStarted }
    return run
  }
}

extension TimerCommand {
  /// True if the command stops the count.
  fileprivate var stopsCount: Bool {
    switch self {
    case .pause, .finish: true
    default: false
    }
  }

  /// True if the command changes the run.
  fileprivate var changesRun: Bool {
    switch self {
    case .start, .pause, .resume, .finish, .reset, .addRemainingTime, .addElapsedTime: true
    case .update, .lap, .message, .signal, .remove: false
    }
  }

  /// The refusal of a command for a timer that does not exist.
  fileprivate var refusalWithoutTimer: TimerRefusal {
    switch self {
    case .update, .message, .signal, .remove: .unknownTimer
    default: .timerHasNotStarted
    }
  }
}

// MARK: - The crossing of zero

extension SharedTimer {
  /// When the next crossing of zero is due; nil when none is to come.
  ///
  /// A paused countdown has one too when it was set to zero exactly: it is due at that change.
  public var zeroInstant: Instant? {
    guard endedAt == nil, let run, run.type.duration != nil else { return nil }
    switch run.status {
    case .running: return run.zeroInstant
    case .paused: return run.remaining(at: runChangedAt) == .zero ? runChangedAt : nil
    case .finished: return nil
    }
  }

  /// Returns the timer after the zero that is due at `now` or before; nil when none is.
  ///
  /// A countdown that repeats may be many runs behind (the machine slept, the server was down): then the last of its
  /// crossings up to `now` stands for all.
  public func crossingZero(at now: Instant) -> ZeroCrossing? {
    guard let first = zeroInstant, first <= now, let run else { return nil }
    var next = self
    var zero = first
    switch settings.atZero {
    case .overtime: break
    case .finish: next.run?.stopDate = zero.date
    case .reset:
      next.run = nil
      next.runRevision = nil
    case .repeat:
      zero = lastRepeat(from: first, to: now)
      next.run = RestoreTimerData(settings.type, startingAt: zero)
      if run.status == .paused {
        next.run?.pausePeriods = [PausePeriod(pause: zero.date, start: nil)]
      }
    }
    next.changedAt = max(zero, changedAt)
    next.runChangedAt = zero
    next.endedAt = settings.atZero.restarts ? nil : zero
    return ZeroCrossing(timer: next, at: zero)
  }

  /// The last zero up to `now` of a countdown that repeats since `first`, if it is far behind; otherwise `first`, so
  /// that each crossing is reported.
  private func lastRepeat(from first: Instant, to now: Instant) -> Instant {
    guard isRunning, let length = settings.type.duration, length > .zero else { return first }
    let missed = (now - first).microseconds / length.microseconds
    return missed < Self.repeatsReportedSingly ? first : first + length * missed
  }

  private static let repeatsReportedSingly: Int64 = 16
}

/// A timer past its zero, and when that was.
public struct ZeroCrossing: Hashable, Sendable {
  public let timer: SharedTimer
  public let at: Instant

  public init(timer: SharedTimer, at: Instant) {
    self.timer = timer
    self.at = at
  }

  /// The same crossing as the change of this revision.
  public func numbered(_ revision: Int) -> ZeroCrossing {
    ZeroCrossing(timer: timer.numbered(revision), at: at)
  }
}
