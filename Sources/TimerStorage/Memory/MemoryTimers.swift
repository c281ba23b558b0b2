import TimerCore

/// Timers in memory, as one server keeps them, or as several share them.
///
/// A value without a thread: what becomes of changes is decided when they are handed over.
struct MemoryTimers {
  var records: [TimerID: TimerRecord] = [:]
  var server = ServerRecord()
  /// The named changes of the last minutes.
  var requests = IdempotencyFile()
  private(set) var stamps: [TimerID: ChangeStamp] = [:]
  /// Every change since the beginning.
  private(set) var history: [RemoteChange] = []
  private var named: [RequestName: NamedChange] = [:]
  private var views: [String: View] = [:]
  /// True if several servers change the timers: the changes get their revisions here, and only if nobody came first.
  let isShared: Bool

  /// A request by its key, within those of one principal.
  private struct RequestName: Hashable {
    let principal: String?
    let requestId: String
  }

  private struct NamedChange {
    let stamp: ChangeStamp
    let at: Double
  }

  /// The state that one server knows, and may still build on.
  private struct View {
    /// The number of changes in the history that this server has handled.
    var position = 0
    var failed: [UInt64: StorageTrouble] = [:]
    /// Changes that were not made since others came first.
    var overtaken: Set<UInt64> = []
  }

  /// An answer to one server.
  struct Exchange {
    /// The changes of others since the last exchange.
    var changes: [RemoteChange] = []
    var reports: [StoreReport] = []

    /// In the order in which the server has to handle it.
    var events: [StoreEvent] {
      (changes.isEmpty ? [] : [.changed(changes)]) + (reports.isEmpty ? [] : [.reported(reports)])
    }
  }

  init(isShared: Bool = false) {
    self.isShared = isShared
  }

  /// The contents that a server reads at its start.
  mutating func contents(for server: String) -> StoreContents {
    views[server] = View(position: history.count)
    var contents = StoreContents()
    contents.timers = records.values.sorted { $0.timer.id < $1.timer.id }
    contents.server = self.server
    contents.requests = requests.requests
    contents.stamps = stamps
    return contents
  }

  /// Stores changes of one server, and gives it those of others. `trouble` is why its changes fail.
  mutating func exchange(
    _ changes: [StoredChange], with server: String, trouble: StorageTrouble? = nil
  ) -> Exchange {
    var exchange = Exchange()
    var view = views[server] ?? View()
    exchange.changes = history[view.position...].filter { $0.stamp.server != server }
    let acknowledged = changes.map(\.reported).max() ?? 0
    view.failed = view.failed.filter { $0.key > acknowledged }
    view.overtaken = view.overtaken.filter { $0 > acknowledged }
    for change in changes {
      if let obstacle = obstacle(to: change, &view, trouble) {
        exchange.reports.append(StoreReport(ticket: change.ticket, outcome: obstacle))
      } else {
        let revision = make(change)
        exchange.reports.append(
          StoreReport(ticket: change.ticket, outcome: .made, revision: revision))
      }
    }
    view.position = history.count
    views[server] = view
    return exchange
  }

  // MARK: What stands in the way

  private func obstacle(
    to change: StoredChange, _ view: inout View, _ trouble: StorageTrouble?
  ) -> StoreOutcome? {
    if let trouble = trouble ?? change.bases.compactMap({ view.failed[$0] }).first {
      view.failed[change.ticket] = trouble
      return .failed(trouble)
    }
    guard isShared else { return nil }
    let first = first(of: change)
    let isNext =
      view.overtaken.isDisjoint(with: change.bases)
      && change.timers.keys.allSatisfy { stamps[$0] == change.expected[$0] }
    guard first != nil || !isNext else { return nil }
    view.overtaken.insert(change.ticket)
    return first.map { .repeated($0) } ?? .overtaken
  }

  /// The change that was made for the same request before.
  private func first(of change: StoredChange) -> ChangeStamp? {
    guard let request = change.request, let first = named[Self.name(of: request)],
      first.at >= request.at - IdempotencyRecord.retention.inSeconds
    else { return nil }
    return first.stamp
  }

  private static func name(of request: IdempotencyRecord) -> RequestName {
    RequestName(principal: request.principal, requestId: request.requestId)
  }

  // MARK: Making a change

  /// Returns the first revision, if that is given here.
  private mutating func make(_ change: StoredChange) -> Int? {
    let made = isShared ? numbered(change) : (change: change, revision: nil)
    for (id, record) in made.change.timers {
      records[id] = record
      // A note is nothing that could come before another change.
      if change.revisions != nil { stamps[id] = record == nil ? nil : change.stamp }
    }
    server = change.server ?? server
    requests.record(made.change)
    if let request = change.request {
      named[Self.name(of: request)] = NamedChange(stamp: change.stamp, at: request.at)
    }
    guard isShared else { return nil }
    history.append(
      RemoteChange(
        stamp: change.stamp, revision: head, timers: made.change.timers,
        causes: made.change.causes, request: made.change.request))
    return made.revision
  }

  /// The highest revision that was given here.
  private(set) var head = 0

  private mutating func numbered(_ change: StoredChange) -> (change: StoredChange, revision: Int?) {
    let given = change.revisions ?? (Int.max...Int.max)
    // A single server's revisions stay as they are.
    let first = max(head + 1, change.revisions == nil ? 0 : given.lowerBound)
    let final = Renumbering(from: given.lowerBound, to: first)
    if change.revisions != nil { head = final.final(given.upperBound) }
    var next = change
    for (id, record) in change.timers {
      let before = records[id]
      next.timers.updateValue(record.map { final.record($0, after: before) }, forKey: id)
      if case .ended(let crossings, let late) = change.causes[id] {
        next.causes[id] = .ended(
          crossings.map { final.crossing($0, after: before?.timer) }, late: late)
      }
    }
    next.request = change.request.map { request in
      change.revisions == nil ? request : request.numbered(final.final(request.revision))
    }
    return (next, change.revisions == nil ? nil : first)
  }
}
