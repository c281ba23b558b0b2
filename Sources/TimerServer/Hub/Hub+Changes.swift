import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The life of a change, from its decision to its broadcast.
extension Hub {
  /// Makes proposals pending; the write is on its way to the disk.
  @discardableResult
  mutating func apply(
    _ proposals: [Proposal], named: IdempotentRequest? = nil, _ turn: inout Turn
  ) -> UInt64 {
    var write = timerTable.apply(proposals, named: named, at: turn.now)
    write.goneAlready = Set(
      proposals.filter { $0.after == nil && $0.cause == .external }.map(\.id))
    turn.actions.writes.append(write)
    for proposal in proposals { scheduleZero(proposal.id) }
    return write.ticket
  }

  /// Decides on the zeros of a timer that are due, together.
  ///
  /// One write at a time, so that a countdown that repeats faster than the disk can follow has no more than one
  /// under way, whatever falls due meanwhile.
  mutating func crossZero(_ id: TimerID, _ turn: inout Turn) {
    guard !timerTable.isCrossingUnderWay(id) else { return }
    crossDueZeros(id, &turn)
  }

  /// Crosses the zeros of a timer that are due, whatever is under way: a requested change comes after them, even if
  /// they still wait for the disk.
  mutating func crossDueZeros(_ id: TimerID, _ turn: inout Turn) {
    // The screens that followed it before a restart may not be back yet: they are sent it when they come.
    let isAwaited = unchangedSinceStart.contains(id) && lateEnds.isWithinReplayWindow(turn.now)
    let isDelivered = !isAwaited || !channels.groups(subscribedTo: id).isEmpty
    guard let crossing = timerTable.crossing(of: id, at: turn.now, isDelivered: isDelivered) else {
      return
    }
    apply([crossing], &turn)
  }

  /// The disk is done with a write.
  mutating func complete(_ report: WriteReport, _ turn: inout Turn) {
    switch report.result {
    case .success: publish(report.ticket, &turn)
    case .failure(let error): rollBack(report.ticket, error, &turn)
    }
    if case .storing(let last) = stopping, report.ticket >= last {
      finishStopping(&turn)
    }
  }

  // MARK: Durable

  private mutating func publish(_ ticket: UInt64, _ turn: inout Turn) {
    guard let change = timerTable.commit(ticket) else { return }
    counters.changesMade += change.proposals.count
    for proposal in change.proposals {
      if proposal.after == nil { lateEnds.remove(proposal.id) }
      if !proposal.cause.isEnd { unchangedSinceStart.remove(proposal.id) }
      quarantine.remove(proposal.id)
      reschedule(proposal.id, at: turn.now)
    }
    // The requester gets its reply first, then all subscribers get the broadcast.
    for waiter in change.waiters {
      answer(waiter, of: change, &turn)
      answerAhead(waiter.requester, &turn)
    }
    for proposal in change.proposals { broadcast(proposal, &turn) }
    for waiter in change.waiters { flush(waiter.requester, &turn) }
  }

  private mutating func answer(
    _ waiter: Waiter, of change: PendingChange, _ turn: inout Turn
  ) {
    let outcome = change.outcome(of: waiter.answer)
    if let key = waiter.key { idempotencyCache.complete(key, outcome) }
    let seen = outcome.within(waiter.scope)
    if case .refusal(let error) = waiter.answer {
      refuse(waiter.tag, error, timer: waiter.timer, to: waiter.requester, &turn)
    } else {
      reply(.accepted(waiter.tag, seen), to: waiter.requester, &turn)
    }
  }

  // MARK: Not durable

  mutating func rollBack(
    _ ticket: UInt64, _ error: DiskError, _ turn: inout Turn
  ) {
    guard let change = timerTable.rollBack(ticket) else { return }
    logStorageIfDue(&turn)
    // The reason for refusing all changes is logged once, and not with each change.
    let level: LogLevel = storageTrouble == nil ? .error : .debug
    turn.actions.logAboutPeers(level, "a change could not be stored: \(error)")
    retryClockRecord(at: turn.now)
    for proposal in change.proposals {
      reschedule(proposal.id, at: turn.now)
      // A crossing that is due all the same is tried again a little later.
      if let zero = timerTable.latest(proposal.id)?.zeroInstant, zero <= turn.now {
        zeros.set(proposal.id, turn.now + Self.storageRetry)
      }
    }
    for waiter in change.waiters {
      if let key = waiter.key { idempotencyCache.drop(key) }
      refuse(
        waiter.tag, .storageFailed, timer: waiter.timer, to: waiter.requester, &turn)
    }
    for waiter in change.waiters { flush(waiter.requester, &turn) }
  }

  private static let storageRetry: Seconds = 1

  /// Updates which files are behind the log: their changes are safe, but not in their files.
  mutating func updateFileErrors(
    _ errors: [DiskError], _ turn: inout Turn
  ) {
    filesLog.update(errors.isEmpty ? nil : errors)
    logStorageIfDue(&turn)
  }

  /// Records that a late end was sent.
  mutating func markDelivered(_ id: TimerID, _ turn: inout Turn) {
    if let write = timerTable.markDelivered(id, at: turn.now) { turn.actions.writes.append(write) }
  }

  // MARK: Edits from outside

  /// Applies a change that someone made to a timer's file.
  mutating func applyExternalChange(
    _ change: ExternalChange, _ turn: inout Turn
  ) {
    switch change {
    case .edited(let record):
      let id = record.timer.id
      quarantine.remove(id)
      var timer = timerTable.moved(record, at: turn.now).timer
      // A run that this server did not start counts as a new one.
      if !timerTable.hasIssued(timer.runRevision) { timer.runRevision = nil }
      timer.changedAt = turn.now
      timer.runChangedAt = turn.now
      guard !timer.isSame(as: timerTable.latest(id)) else { return }
      apply([Proposal(id: id, after: timer, cause: .external)], &turn)
      turn.actions.log(.info, "the file of timer \(id.name) was edited and reloaded")
    case .removed(let id):
      quarantine.remove(id)
      guard timerTable.latest(id) != nil else { return }
      apply([Proposal(id: id, after: nil, cause: .external)], &turn)
      turn.actions.log(.info, "the file of timer \(id.name) was deleted, and its timer removed")
    case .released(let id):
      quarantine.remove(id)
      turn.actions.log(
        .info,
        "the file that blocked timer \(id.name) is gone, and the timer's own file is written again")
    case .damaged(let fault) where fault.movedTo != nil:
      turn.actions.log(
        .warning, "\(fault.fileName) was replaced by a change of its timer\(fault.place)")
    case .damaged(let fault):
      quarantine.add(fault)
      turn.actions.log(
        .error,
        "\(fault.fileName) was edited and can't be loaded: \(fault.fault); the timer keeps its state"
      )
    }
  }

  // MARK: Deadlines of a timer

  /// Schedules a timer's ticks and its zero after a change of its durable state.
  mutating func reschedule(_ id: TimerID, at now: Instant) {
    scheduleZero(id)
    tickCache.invalidate()
    let durable = timerTable.durable(id)
    let wasEmpty = running.isEmpty
    if durable?.isRunning == true { running.insert(id) } else { running.remove(id) }
    for channel in channels.tickChannels(of: id) { schedule(channel, at: now) }
    // The instants of these depend on the server clock alone.
    guard running.isEmpty != wasEmpty else { return }
    for channel in channels.commonTickChannels { schedule(channel, at: now) }
  }

  private mutating func scheduleZero(_ id: TimerID) {
    // One that is on its way to the disk is followed by the next when its report has come.
    zeros.set(id, timerTable.isCrossingUnderWay(id) ? nil : timerTable.latest(id)?.zeroInstant)
  }

  /// Sets the next tick of a channel after `now`, if there is to be one.
  mutating func schedule(_ channel: Channel, at now: Instant) {
    guard let group = channels.group(channel), case .ticks(let scope, let interval, _) = channel
    else {
      return
    }
    switch scope {
    case .one(let id):
      deadlines.set(.tick(group), timerTable.durable(id)?.nextTick(after: now, every: interval))
    case .every:
      let next = now + interval.untilMultiple(after: now.sinceEpoch)
      deadlines.set(.tick(group), running.isEmpty ? nil : next)
    }
  }

  mutating func tick(
    _ group: GroupID, due: Instant, _ turn: inout Turn
  ) {
    guard let channel = channels.channel(group),
      case .ticks(let scope, let interval, let inParts) = channel
    else {
      return
    }
    // A loop that was held up, or a machine that slept, has many behind it: only the newest counts.
    let isNewest = due > turn.now - interval
    if !isNewest {
      schedule(channel, at: turn.now - interval)
      return
    }
    schedule(channel, at: due)
    switch scope {
    case .one(let id):
      guard let text = tickText(of: id, at: due) else { return }
      broadcastTick([text], to: group, &turn)
    case .every(let timerScope):
      let texts = tickTexts(of: timerScope, inParts: inParts, at: due)
      if !texts.isEmpty { broadcastTick(texts, to: group, &turn) }
    }
  }

  /// The tick of one timer; made once for all intervals that meet there.
  private mutating func tickText(of id: TimerID, at due: Instant) -> [UInt8]? {
    let isShared = channels.hasManyTickChannels(id)
    if isShared, let text = tickCache.texts(of: .one(id), at: due)?.first { return text }
    guard let timer = timerTable.durable(id) else { return nil }
    let text = ServerMessage.snapshot(.tick, [TimerReading(timer, at: due)]).text
    if isShared { tickCache.insert([text], of: .one(id), at: due) }
    return text
  }

  /// The tick of all running timers in a scope; empty if there is none. It is encoded once, whatever the intervals of
  /// its subscribers.
  private mutating func tickTexts(
    of scope: TimerScope, inParts: Bool, at due: Instant
  ) -> [[UInt8]] {
    let subject = TickCache.Subject.every(scope, inParts: inParts)
    if let texts = tickCache.texts(of: subject, at: due) { return texts }
    let timers = running.filter(scope.contains).sorted().compactMap { timerTable.durable($0) }
      .map { TimerReading($0, at: due) }
    var texts: [[UInt8]] = []
    if !timers.isEmpty {
      texts =
        inParts
        ? ServerMessage.parts(of: .tick, timers) : [ServerMessage.snapshot(.tick, timers).text]
    }
    tickCache.insert(texts, of: subject, at: due)
    return texts
  }

  /// A timer as it may be shown.
  func reading(_ id: TimerID, at now: Instant) -> TimerReading? {
    timerTable.durable(id).map { TimerReading($0, at: now) }
  }

  // MARK: Broadcasts

  private mutating func broadcast(
    _ proposal: Proposal, _ turn: inout Turn
  ) {
    guard let timer = proposal.after else {
      broadcast(.removed(proposal.id), of: proposal.id, replaceable: false, &turn)
      channels.forgetKey(of: proposal.id)
      return
    }
    if case .ended(_, let late) = proposal.cause {
      broadcastEnds(of: proposal, timer, late: late, &turn)
    } else {
      let reading = TimerReading(timer, at: timer.changedAt)
      broadcast(.snapshot(proposal.cause, [reading]), of: proposal.id, replaceable: true, &turn)
    }
  }

  private mutating func broadcastEnds(
    of proposal: Proposal, _ timer: SharedTimer, late: Bool, _ turn: inout Turn
  ) {
    let id = proposal.id
    if !proposal.isDelivered {
      let hasSubscribers = !channels.groups(subscribedTo: id).isEmpty
      // An end that the server saw is for the present subscribers, if there are any.
      if late || !hasSubscribers {
        for crossing in proposal.crossings { lateEnds.add(id, endedAt: crossing.at) }
      }
      if hasSubscribers {
        // Present subscribers receive it here, and must not receive it again when they subscribe again.
        if late {
          for session in sessions.values where session.isSubscribed(to: id) {
            session.sentEnds.insert(id)
          }
        }
        markDelivered(id, &turn)
      }
    }
    // A late end comes with the present state, which is newer than that of the crossing.
    let present = late ? TimerReading(timer, at: turn.now) : nil
    if let present {
      broadcast(.snapshot(.restored, [present]), of: id, replaceable: false, &turn)
    }
    for crossing in proposal.crossings {
      let reading = present ?? TimerReading(crossing.timer, at: crossing.timer.changedAt)
      let cause = SnapshotCause.ended(at: crossing.at, late: late)
      broadcast(.snapshot(cause, [reading]), of: id, replaceable: false, &turn)
    }
  }

  private mutating func broadcast(
    _ message: ServerMessage, of id: TimerID, replaceable: Bool, _ turn: inout Turn
  ) {
    let groups = channels.groups(subscribedTo: id)
    guard !groups.isEmpty else { return }
    let frame = Frame(message.text, replacementKey: replaceable ? channels.frameKey(of: id) : nil)
    for group in groups { turn.actions.transport.append(.broadcast(frame, to: group)) }
    counters.broadcasts += groups.count
  }

  private mutating func broadcastTick(
    _ texts: [[UInt8]], to group: GroupID, _ turn: inout Turn
  ) {
    let frame = Frame(texts, replacementKey: group.number)
    turn.actions.transport.append(.broadcast(frame, to: group))
    counters.broadcasts += 1
  }
}

extension SnapshotCause {
  fileprivate var isEnd: Bool {
    if case .ended = self { true } else { false }
  }
}

extension SharedTimer {
  /// Returns whether both look the same to clients.
  fileprivate func isSame(as other: SharedTimer?) -> Bool {
    guard let other else { return false }
    return settings == other.settings && run == other.run && laps == other.laps
      && endedAt == other.endedAt
  }
}
