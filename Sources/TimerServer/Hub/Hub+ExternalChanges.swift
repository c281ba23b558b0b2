import TimerCore
import TimerProtocol
import TimerStorage

/// Edits by hand, which become changes of the server's own.
extension Hub {
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
        .warning, "\(fault.place) was replaced by a change of its timer\(fault.whereabouts)")
    case .damaged(let fault):
      quarantine.add(fault)
      turn.actions.log(
        .error,
        "\(fault.place) was edited and can't be loaded: \(fault.fault); the timer keeps its state"
      )
    }
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
