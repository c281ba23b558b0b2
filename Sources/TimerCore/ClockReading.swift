/// The machine's clocks at one moment, kept with each change so that a later process can tell how much time has passed
/// since.
public struct ClockReading: Codable, Hashable, Sendable {
  /// The server clock, in seconds since 1970.
  public var serverTime: Double
  /// Seconds since the machine was started, its sleep included.
  public var bootTime: Double
  /// Names this start of the machine; another one names another.
  public var bootID: String
  /// The wall clock, in seconds since 1970; nil where a version that did not keep it wrote the file.
  public var wall: Double?

  public init(server: Instant, boot: Seconds, bootID: String, wall: WallTime? = nil) {
    serverTime = server.sinceEpoch.inSeconds
    bootTime = boot.inSeconds
    self.bootID = bootID
    self.wall = wall?.sinceEpoch.inSeconds
  }

  public var server: Instant { Instant(Seconds(clamping: serverTime)) }
  public var boot: Seconds { Seconds(clamping: bootTime) }
  /// The wall clock. A reading without one means that the clock was not set since the server's start.
  public var wallTime: WallTime { WallTime(Seconds(clamping: wall ?? serverTime)) }
  /// The wall clock minus the server clock.
  public var wallOffset: Seconds { wallTime.sinceEpoch - server.sinceEpoch }

  /// The amount by which instants of this reading's clock have to move to mean the same on the clock of `now`.
  ///
  /// Within one start of the machine the boot time gives the time passed, whatever the wall clock does. Across a
  /// restart only the wall clock can; where it went back, no time has passed. If the wall clock was set after this
  /// reading, a reading in `later` from the same start of the machine may show that; then boot time is used up to
  /// there.
  public func shift(to now: ClockReading, by later: [ClockReading] = []) -> Seconds {
    if bootID == now.bootID { return shiftWithinBoot(to: now) }
    if let last = later.last(where: { $0.isLater(inBootOf: self) }) {
      return shiftWithinBoot(to: last) + last.shift(to: now)
    }
    let passed = max(.zero, now.wallTime - wallTime)
    return now.server - (server + passed)
  }

  private func shiftWithinBoot(to now: ClockReading) -> Seconds {
    now.server - (server + max(.zero, now.boot - boot))
  }

  /// Returns whether the reading is later in the same start of the machine and has the wall clock.
  private func isLater(inBootOf other: ClockReading) -> Bool {
    wall != nil && bootID == other.bootID && bootTime >= other.bootTime
  }

  /// The amount by which the wall clock was set between this reading and `now`; nil after a restart of the machine.
  public func wallStep(to now: ClockReading) -> Seconds? {
    guard bootID == now.bootID else { return nil }
    return (now.wallTime - wallTime) - (now.boot - boot)
  }
}

extension SharedTimer {
  /// The same timer on a clock that reads `shift` more.
  public func shifted(by shift: Seconds) -> SharedTimer {
    guard shift != .zero else { return self }
    var next = self
    next.changedAt = changedAt + shift
    next.runChangedAt = runChangedAt + shift
    next.settings = settings.shifted(by: shift)
    next.endedAt = endedAt.map { $0 + shift }
    next.run = run?.shifted(by: shift)
    return next
  }
}

extension TimerSettings {
  /// Displays compare these instants with the server clock.
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
