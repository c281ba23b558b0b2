import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// Subscriptions: the full set at once, the ends that were missed, and the groups of the channels.
extension Hub {
  /// Subscribes a connection and sends the full set at once, after the reply to a request with a tag.
  ///
  /// `grant` is what the connection was allowed at the time of its request. If it has authenticated since, the
  /// subscription is reduced to its present grant, as if it had authenticated after subscribing.
  mutating func subscribe(
    _ session: Session, _ subscription: Subscription, as grant: Grant, replyingTo tag: ReplyTag?,
    _ turn: inout Turn
  ) throws(ErrorReply) {
    let selection = subscription.selection
    try grant.check(.subscribe(selection, interval: subscription.interval))
    guard session.subscriptions.count(with: selection) <= options.subscriptionsMax else {
      throw ErrorReply(
        .tooManySubscriptions,
        "a connection has at most \(options.subscriptionsMax) subscriptions; \"*\" is one for all")
    }
    let interval = subscription.effectiveInterval
    try checkTicks(of: session, selection, every: interval)
    if let tag {
      let isAsRequested = interval == subscription.interval
      let outcome = isAsRequested ? Outcome.done : .subscribed(interval: interval)
      turn.actions.send(ServerMessage.accepted(tag, outcome).text, to: session.id)
    }
    let timers = timerTable.shown(selection, to: grant, at: turn.now)
    if subscription.inParts {
      turn.actions.send(Frame(ServerMessage.parts(of: .subscribed, timers)), to: session.id)
    } else {
      turn.actions.send(ServerMessage.snapshot(.subscribed, timers).text, to: session.id)
    }
    let published = timerTable.publishedRevision
    // Ends that this connection has received already are not sent again.
    let missed = missedEnds(subscription, of: session, as: grant, at: turn.now)
    resubscribe(session, selection, &turn) {
      $0.subscriptions.add(selection, interval: interval, inParts: subscription.inParts)
      if $0.grant != grant { $0.accept($0.grant, at: published) }
    }
    // As one, since no newer one takes the place of any: of thousands each would count for what may wait.
    var replay: [[UInt8]] = []
    for (id, ends) in missed where session.subscriptions.contains(id) {
      if subscription.since == nil, !session.subscriptions.sentEnds.insert(id).inserted { continue }
      replay += texts(of: ends, of: id, &turn)
    }
    if !replay.isEmpty { turn.actions.send(Frame(replay), to: session.id) }
  }

  /// Refuses ticks of single timers above the limit of a token, or of an address' visitors. Channels can be shared, but
  /// at an interval that no other subscriber has each one is work of its own.
  private func checkTicks(
    of session: Session, _ selection: TimerSelection, every interval: Seconds
  ) throws(ErrorReply) {
    guard case .timers(let ids) = selection, interval > .zero else { return }
    let change = session.subscriptions.tickChannels(of: Set(ids), at: interval)
    let rate = channels.tickRate(of: session.payer, opening: change.opened, closing: change.closed)
    guard rate > options.ticksMax * 1_000_000 else { return }
    throw ErrorReply(
      .tooManySubscriptions,
      "these ticks would be more than \(options.ticksMax) a second of your address or token, over all connections; "
        + "take a longer interval, one that others have, such as 0.1 or 1, or \"*\" for all timers")
  }

  /// The ends that a new subscription has to send, by timers: those after the point that the client gives, or, without
  /// one, those that no subscriber has received.
  private func missedEnds(
    _ subscription: Subscription, of session: Session, as grant: Grant, at now: Instant
  ) -> [(id: TimerID, ends: [Instant])] {
    let published = timerTable.publishedRevision
    var selection = subscription.selection
    // For a scope of few timers, only those are searched.
    if case .all = selection, case .matching = grant.scope {
      selection = .timers(timerTable.durableTimers(in: grant.scope).map(\.id))
    }
    guard let since = subscription.since else {
      return lateEnds.among(selection, at: now).filter {
        session.subscriptions.deliveredRevision(of: $0.id, published: published) == nil
      }
    }
    guard since.history == history, since.revision <= published else { return [] }
    let ids =
      switch selection {
      case .all: timerTable.idsWithEnds(after: since.revision)
      case .timers(let ids): Set(ids).sorted()
      }
    return ids.compactMap { id in
      let known = session.subscriptions.deliveredRevision(of: id, published: published)
      let ends = timerTable.ends(id, after: max(known ?? 0, since.revision)).map(\.at)
      return ends.isEmpty ? nil : (id, ends)
    }
  }

  /// Changes a session's subscriptions to these timers, and joins and leaves what comes of it.
  mutating func resubscribe(
    _ session: Session, _ selection: TimerSelection, _ turn: inout Turn,
    by update: (Session) -> Void
  ) {
    let before = session.subscriptions.channels(touchedBy: selection)
    update(session)
    let after = session.subscriptions.channels(touchedBy: selection)
    for channel in before.subtracting(after) {
      if let group = leave(channel) { turn.actions.transport.append(.leave(session.id, group)) }
    }
    for channel in after.subtracting(before) {
      let isNew = channels.group(channel) == nil
      turn.actions.transport.append(.join(session.id, channels.join(channel, of: session.payer)))
      if isNew { ticks.schedule(channel, of: timerTable, on: channels, after: turn.now) }
    }
  }

  @discardableResult
  mutating func leave(_ channel: Channel) -> GroupID? {
    let group = channels.leave(channel)
    if let group, channels.group(channel) == nil { ticks.remove(group) }
    return group
  }

  /// Records that a late end was sent.
  mutating func markDelivered(_ id: TimerID, _ turn: inout Turn) {
    if let change = timerTable.markDelivered(id, at: turn.now) {
      turn.actions.changes.append(change)
    }
  }

  /// The messages for missed ends.
  private mutating func texts(
    of ends: [Instant], of id: TimerID, _ turn: inout Turn
  ) -> [[UInt8]] {
    guard let timer = timerTable.reading(id, at: turn.now) else { return [] }
    markDelivered(id, &turn)
    let causes = [.restored] + ends.map { SnapshotCause.ended(at: $0, late: true) }
    return causes.map { ServerMessage.snapshot($0, [timer]).text }
  }
}

extension Subscription {
  /// The same as a request.
  var request: ClientRequest {
    .subscribe(selection, interval: interval, since: since, inParts: inParts)
  }
}
