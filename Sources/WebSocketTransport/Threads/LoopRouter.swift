/// Which loop an action is for, as the first loop knows it: by what it has heard of the further loops'
/// connections and told them.
struct LoopRouter {
  private var guests: [ConnectionID: Guest] = [:]
  private var groups: [GroupID: MemberCounts] = [:]
  /// What goes to each loop at the end of this turn; the first one's stays empty.
  private var outgoing: [[TransportAction]]

  /// A connection of a further loop.
  private struct Guest {
    var groups: [GroupID] = []
    /// The server closed it, and wants to hear nothing more but its end.
    var isMuted = false
  }

  /// How many members of one group each loop has, as far as the server asked for it.
  private struct MemberCounts {
    var byLoop: [Int]
    var inAll = 0
  }

  init(loopCount: Int) { outgoing = Array(repeating: [], count: loopCount) }

  /// Whether an event of a further loop is still of interest when it gets here.
  mutating func admits(_ event: TransportEvent) -> Bool {
    switch event {
    case .opened(let id, _):
      guests[id] = Guest()
      return true
    case .received(let id, _), .receivedBinary(let id, _):
      return guests[id].map { !$0.isMuted } ?? false
    case .closed(let id):
      guard guests[id] != nil else { return false }
      leaveAll(id)
      guests[id] = nil
      return true
    case .requested: return true
    // These are the first loop's own.
    case .deadline, .woken, .stopRequested, .reloadRequested: return false
    }
  }

  /// Puts each action where it belongs, in order; those of the first loop into `own`.
  mutating func route(_ actions: [TransportAction], own: inout [TransportAction]) {
    for action in actions { route(action, own: &own) }
  }

  private mutating func route(_ action: TransportAction, own: inout [TransportAction]) {
    switch action {
    case .send(_, let id), .holdBack(let id), .readOn(let id): pass(action, to: id, own: &own)
    case .join(let id, let group):
      note(joined: group, id)
      pass(action, to: id, own: &own)
    case .leave(let id, let group):
      note(left: group, id)
      pass(action, to: id, own: &own)
    case .close(let id, _, _):
      leaveAll(id)
      guests[id]?.isMuted = true
      pass(action, to: id, own: &own)
    case .broadcast(_, let group):
      own.append(action)
      guard let members = groups[group] else { return }
      for loop in outgoing.indices where members.byLoop[loop] > 0 { outgoing[loop].append(action) }
    case .respond(_, let id):
      if id.loopNumber == 0 { own.append(action) } else { outgoing[id.loopNumber].append(action) }
    case .wake: own.append(action)
    case .stop:
      own.append(action)
      for loop in outgoing.indices.dropFirst() { outgoing[loop].append(action) }
    }
  }

  /// Takes out what goes to a loop.
  mutating func takeOutgoing(_ loop: Int) -> [TransportAction] {
    guard !outgoing[loop].isEmpty else { return [] }
    let actions = outgoing[loop]
    outgoing[loop] = []
    return actions
  }

  private mutating func pass(
    _ action: TransportAction, to id: ConnectionID, own: inout [TransportAction]
  ) {
    guard id.loopNumber != 0 else { return own.append(action) }
    // Who has gone meanwhile is passed over, as everywhere.
    if guests[id] != nil { outgoing[id.loopNumber].append(action) }
  }

  private mutating func note(joined group: GroupID, _ id: ConnectionID) {
    guard let guest = guests[id], !guest.isMuted, !guest.groups.contains(group) else { return }
    guests[id]?.groups.append(group)
    let none = MemberCounts(byLoop: Array(repeating: 0, count: outgoing.count))
    groups[group, default: none].byLoop[id.loopNumber] += 1
    groups[group]?.inAll += 1
  }

  private mutating func note(left group: GroupID, _ id: ConnectionID) {
    guard let place = guests[id]?.groups.firstIndex(of: group) else { return }
    guests[id]?.groups.remove(at: place)
    groups[group]?.byLoop[id.loopNumber] -= 1
    groups[group]?.inAll -= 1
    if groups[group]?.inAll == 0 { groups[group] = nil }
  }

  private mutating func leaveAll(_ id: ConnectionID) {
    for group in guests[id]?.groups ?? [] { note(left: group, id) }
  }
}
