import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// How a change becomes pending.
extension Hub {
  /// Makes proposals pending; the change is on its way to the store.
  @discardableResult
  mutating func apply(
    _ proposals: [Proposal], named: IdempotentRequest? = nil, _ turn: inout Turn
  ) -> UInt64 {
    var change = timerTable.apply(proposals, named: named, at: turn.now)
    change.goneAlready = Set(
      proposals.filter { $0.after == nil && $0.cause == .external }.map(\.id))
    turn.actions.changes.append(change)
    for proposal in proposals { scheduleZero(proposal.id) }
    return change.ticket
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
  mutating func crossDueZeros(_ id: TimerID, at instant: Instant? = nil, _ turn: inout Turn) {
    // The screens that followed it before a restart may not be back yet: they are sent it when they come.
    let isAwaited = unchangedSinceStart.contains(id) && lateEnds.isWithinReplayWindow(turn.now)
    let isDelivered = !isAwaited || !channels.groups(subscribedTo: id).isEmpty
    guard
      let crossing = timerTable.crossing(
        of: id, at: instant ?? turn.now, isDelivered: isDelivered)
    else { return }
    apply([crossing], &turn)
  }
}
