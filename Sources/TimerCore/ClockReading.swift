/// What the machine's clocks said at one moment, kept with each change so that a later process can tell
/// how much time has passed since.
public struct ClockReading: Codable, Hashable, Sendable {
  /// The server clock, in seconds since 1970.
  public var serverTime: Double
  /// Seconds since the machine was started, its sleep included.
  public var bootTime: Double
  /// Names this start of the machine; another one names another.
  public var bootID: String

  public init(server: Instant, boot: Seconds, bootID: String) {
    serverTime = server.sinceEpoch.inSeconds
    bootTime = boot.inSeconds
    self.bootID = bootID
  }

  public var server: Instant { Instant(Seconds(clamping: serverTime)) }
  public var boot: Seconds { Seconds(clamping: bootTime) }

  /// By how much instants of this reading's clock have to move to mean the same on the clock of `now`.
  ///
  /// Since the same start of the machine the boot time tells what has passed, whatever became of the wall
  /// clock. Over a new start only the wall clock can; where it went back, nothing has passed.
  public func shift(to now: ClockReading) -> Seconds {
    if bootID == now.bootID {
      return now.server - (server + max(.zero, now.boot - boot))
    }
    return min(.zero, now.server - server)
  }
}

extension SharedTimer {
  /// The same timer on a clock that reads `shift` more; a finished run stays where it was.
  public func shifted(by shift: Seconds) -> SharedTimer {
    guard shift != .zero else { return self }
    var next = self
    next.changedAt = changedAt + shift
    next.runChangedAt = runChangedAt + shift
    next.settings = settings.shifted(by: shift)
    guard isActive else { return next }
    next.endedAt = endedAt.map { $0 + shift }
    next.run = run?.shifted(by: shift)
    return next
  }
}

extension TimerSettings {
  /// Displays compare these instants with the clock that they are told.
  fileprivate func shifted(by shift: Seconds) -> TimerSettings {
    var next = self
    next.message = message.map { SpeakerMessage($0.text, sentAt: $0.sentAt + shift) }
    next.signal = signal.map { SpeakerSignal($0.kind, sentAt: $0.sentAt + shift) }
    return next
  }
}

extension RestoreTimerData {
  fileprivate func shifted(by shift: Seconds) -> RestoreTimerData {
    RestoreTimerData(
      startDate: (Instant(startDate) + shift).date,
      pausePeriods: pausePeriods.map {
        PausePeriod(
          pause: (Instant($0.pause) + shift).date,
          start: $0.start.map { (Instant($0) + shift).date })
      },
      type: type, stopDate: stopDate.map { (Instant($0) + shift).date })
  }
}
