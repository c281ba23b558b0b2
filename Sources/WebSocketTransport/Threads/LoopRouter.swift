/// Decides which loop an action is for, by the events of worker loops and the actions that were sent to them.
struct LoopRouter {
  private var remoteConnections: [ConnectionID: RemoteConnection] = [:]
  private var groups: [GroupID: MemberCounts] = [:]
  /// The actions for each loop at the end of this iteration; the main loop's entry stays empty.
  private var outgoing: [[TransportAction]]

  /// A connection of a worker loop.
  private struct RemoteConnection {
    var groups: [GroupID] = []
    /// True if the server closed it; only its end is delivered from then on.
    var isClosedByServer = false
  }

  /// The number of a group's members on each loop, by the server's own actions.
  private struct MemberCounts {
    var byLoop: [Int]
    var total = 0
  }

  init(loopCount: Int) { outgoing = Array(repeating: [], count: loopCount) }

  /// Records an event of a worker loop. Returns false if it is obsolete by now.
  mutating func admit(_ event: TransportEvent) -> Bool {
    switch event {
    case .opened(let id, _):
      remoteConnections[id] = RemoteConnection()
      return true
    case .received(let id, _), .receivedBinary(let id, _):
      return remoteConnections[id].map { !$0.isClosedByServer } ?? false
    case .closed(let id):
      guard remoteConnections[id] != nil else { return false }
      leaveAll(id)
      remoteConnections[id] = nil
      return true
    case .requested: return true
    // Only the main loop has these.
    case .deadline, .woken, .stopRequested, .reloadRequested: return false
    }
  }

  /// Sorts actions by their loop, in order; those of the main loop go into `own`.
  mutating func route(_ actions: [TransportAction], own: inout [TransportAction]) {
    for action in actions { route(action, own: &own) }
  }

  private mutating func route(_ action: TransportAction, own: inout [TransportAction]) {
    switch action {
    case .send(_, let id), .pauseReading(let id), .resumeReading(let id):
      forward(action, to: id, own: &own)
    case .join(let id, let group):
      recordJoin(of: group, id)
      forward(action, to: id, own: &own)
    case .leave(let id, let group):
      recordLeave(of: group, id)
      forward(action, to: id, own: &own)
    case .close(let id, _, _):
      leaveAll(id)
      remoteConnections[id]?.isClosedByServer = true
      forward(action, to: id, own: &own)
    case .broadcast(_, let group):
      own.append(action)
      guard let members = groups[group] else { return }
      for loop in outgoing.indices where members.byLoop[loop] > 0 { outgoing[loop].append(action) }
    case .respond(_, let id):
      if id.loopNumber == 0 { own.append(action) } else { outgoing[id.loopNumber].append(action) }
    case .setDeadline: own.append(action)
    case .stop:
      own.append(action)
      for loop in outgoing.indices.dropFirst() { outgoing[loop].append(action) }
    }
  }

  /// Takes out what goes to a loop.
  mutating func drainOutgoing(_ loop: Int) -> [TransportAction] {
    guard !outgoing[loop].isEmpty else { return [] }
    let actions = outgoing[loop]
    outgoing[loop] = []
    return actions
  }

  private mutating func forward(
    _ action: TransportAction, to id: ConnectionID, own: inout [TransportAction]
  ) {
    guard id.loopNumber != 0 else { return own.append(action) }
    // Actions for a closed connection are ignored, as everywhere.
    if remoteConnections[id] != nil { outgoing[id.loopNumber].append(action) }
  }

  private mutating func recordJoin(of group: GroupID, _ id: ConnectionID) {
    guard let connection = remoteConnections[id], !connection.isClosedByServer,
      !connection.groups.contains(group)
    else { return }
    remoteConnections[id]?.groups.append(group)
    let none = MemberCounts(byLoop: Array(repeating: 0, count: outgoing.count))
    groups[group, default: none].byLoop[id.loopNumber] += 1
    groups[group]?.total += 1
  }

  private mutating func recordLeave(of group: GroupID, _ id: ConnectionID) {
    guard let place = remoteConnections[id]?.groups.firstIndex(of: group) else { return }
    remoteConnections[id]?.groups.remove(at: place)
    groups[group]?.byLoop[id.loopNumber] -= 1
    groups[group]?.total -= 1
    if groups[group]?.total == 0 { groups[group] = nil }
  }

  private mutating func leaveAll(_ id: ConnectionID) {
    for group in remoteConnections[id]?.groups ?? [] { recordLeave(of: group, id) }
  }
}
