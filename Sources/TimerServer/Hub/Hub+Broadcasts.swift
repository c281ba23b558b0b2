import TimerCore
import TimerProtocol
import WebSocketTransport

/// Broadcasts to subscribers: changes once they are durable, and ticks.
extension Hub {
  // MARK: Deadlines of a timer

  /// Schedules a timer's ticks and its zero after a change of its durable state.
  mutating func reschedule(_ id: TimerID, at now: Instant) {
    scheduleZero(id)
    ticks.update(id, of: timerTable, on: channels, at: now)
  }

  mutating func scheduleZero(_ id: TimerID) {
    // While a crossing is on its way to the disk none is scheduled; its report schedules the next one.
    zeros.set(id, timerTable.isCrossingUnderWay(id) ? nil : timerTable.latest(id)?.zeroInstant)
  }

  // MARK: Broadcasts

  mutating func broadcast(
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
          for session in sessions.values where session.subscriptions.contains(id) {
            session.subscriptions.sentEnds.insert(id)
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

  /// Sends a channel's tick that is due.
  mutating func broadcastTick(to group: GroupID, due: Instant, _ turn: inout Turn) {
    let texts = ticks.messages(for: group, due: due, of: timerTable, on: channels, at: turn.now)
    guard !texts.isEmpty else { return }
    let frame = Frame(texts, replacementKey: group.number)
    turn.actions.transport.append(.broadcast(frame, to: group))
    counters.broadcasts += 1
  }
}
