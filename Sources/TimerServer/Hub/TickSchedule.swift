import TimerCore
import TimerProtocol
import WebSocketTransport

/// When the ticks of each channel are due, and their messages.
struct TickSchedule {
  /// The timers that run.
  private(set) var running: Set<TimerID> = []
  private var cache = TickCache()
  private var deadlines = DeadlineQueue<GroupID>()

  /// When the next tick is due.
  var next: Instant? { deadlines.first }

  /// Takes the earliest tick that is due at `now`.
  mutating func popDue(at now: Instant) -> (group: GroupID, due: Instant)? {
    deadlines.popDue(at: now).map { (group: $0.key, due: $0.instant) }
  }

  // MARK: Scheduling

  /// Schedules the ticks of a timer after a change of its durable state.
  mutating func update(
    _ id: TimerID, of timers: TimerTable, on channels: Channels, at now: Instant
  ) {
    cache.invalidate()
    let wasEmpty = running.isEmpty
    if timers.durable(id)?.isRunning == true { running.insert(id) } else { running.remove(id) }
    for channel in channels.tickChannels(of: id) {
      schedule(channel, of: timers, on: channels, after: now)
    }
    // The instants of these depend on the server clock alone.
    guard running.isEmpty != wasEmpty else { return }
    for channel in channels.commonTickChannels {
      schedule(channel, of: timers, on: channels, after: now)
    }
  }

  /// Sets the next tick of a channel after `now`, if there is to be one.
  mutating func schedule(
    _ channel: Channel, of timers: TimerTable, on channels: Channels, after now: Instant
  ) {
    guard let group = channels.group(channel), case .ticks(let scope, let interval, _) = channel
    else { return }
    switch scope {
    case .one(let id):
      deadlines.set(group, timers.durable(id)?.nextTick(after: now, every: interval))
    case .every:
      let next = now + interval.untilMultiple(after: now.sinceEpoch)
      deadlines.set(group, running.isEmpty ? nil : next)
    }
  }

  /// Ends the ticks of a group without members.
  mutating func remove(_ group: GroupID) { deadlines.remove(group) }

  // MARK: Messages

  /// The messages of a tick that is due, after which the next one is scheduled; empty if there is nothing to send.
  mutating func messages(
    for group: GroupID, due: Instant, of timers: TimerTable, on channels: Channels, at now: Instant
  ) -> [[UInt8]] {
    guard let channel = channels.channel(group),
      case .ticks(let scope, let interval, let inParts) = channel
    else { return [] }
    // A loop that was held up, or a machine that slept, has many behind it: only the newest counts.
    guard due > now - interval else {
      schedule(channel, of: timers, on: channels, after: now - interval)
      return []
    }
    schedule(channel, of: timers, on: channels, after: due)
    return switch scope {
    case .one(let id): message(of: id, of: timers, on: channels, at: due)
    case .every(let scope): messages(in: scope, inParts: inParts, of: timers, at: due)
    }
  }

  /// The tick of one timer; made once for all intervals that meet there.
  private mutating func message(
    of id: TimerID, of timers: TimerTable, on channels: Channels, at due: Instant
  ) -> [[UInt8]] {
    let isShared = channels.hasManyTickChannels(id)
    if isShared, let texts = cache.texts(of: .one(id), at: due) { return texts }
    guard let timer = timers.durable(id) else { return [] }
    let texts = [ServerMessage.snapshot(.tick, [TimerReading(timer, at: due)]).text]
    if isShared { cache.insert(texts, of: .one(id), at: due) }
    return texts
  }

  /// The tick of all running timers in a scope. It is encoded once, whatever the intervals of its subscribers.
  private mutating func messages(
    in scope: TimerScope, inParts: Bool, of timers: TimerTable, at due: Instant
  ) -> [[UInt8]] {
    let subject = TickCache.Subject.every(scope, inParts: inParts)
    if let texts = cache.texts(of: subject, at: due) { return texts }
    let readings = running.filter(scope.contains).sorted().compactMap { timers.durable($0) }
      .map { TimerReading($0, at: due) }
    var texts: [[UInt8]] = []
    if !readings.isEmpty {
      texts =
        inParts
        ? ServerMessage.parts(of: .tick, readings)
        : [ServerMessage.snapshot(.tick, readings).text]
    }
    cache.insert(texts, of: subject, at: due)
    return texts
  }
}
