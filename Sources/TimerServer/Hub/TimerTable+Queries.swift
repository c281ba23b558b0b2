import TimerCore
import TimerProtocol

/// Requests that change nothing, answered from durable states.
extension TimerTable {
  /// A timer as it may be shown.
  func reading(_ id: TimerID, at now: Instant) -> TimerReading? {
    durable(id).map { TimerReading($0, at: now) }
  }

  /// The result of a request that changes nothing, by WebSocket or HTTP.
  func outcome(
    of request: ClientRequest, as grant: Grant, receivedAt: Instant, at now: Instant
  ) throws(ErrorReply) -> Outcome {
    try grant.check(request)
    switch request {
    case .get(let id):
      guard let timer = reading(id, at: now) else { throw ErrorReply(.unknownTimer, timer: id) }
      return .timer(timer)
    case .list: return .timers(shown(.all, to: grant, at: now))
    case .listPage(let page): return self.page(page, for: grant, at: now)
    case .sync(let clientTime):
      return .synced(clientTime: clientTime, receivedAt: receivedAt, sentAt: now)
    case .authenticate, .subscribe, .unsubscribe, .change, .finishAll:
      throw ErrorReply(.badRequest, "this command needs a WebSocket; connect to /ws")
    }
  }

  private func page(_ page: ListPage, for grant: Grant, at now: Instant) -> Outcome {
    var timers: [TimerReading] = []
    guard grant.role >= .view else { return .page([], next: nil) }
    for timer in durableTimers(in: grant.scope, after: page.after) {
      if timers.count == page.limit { return .page(timers, next: timers.last?.timer.id) }
      timers.append(TimerReading(timer, at: now))
    }
    return .page(timers, next: nil)
  }

  /// The selected timers as a grant may see them.
  func shown(
    _ selection: TimerSelection, to grant: Grant, at now: Instant
  ) -> [TimerReading] {
    switch selection {
    case .all:
      grant.role < .view
        ? [] : durableTimers(in: grant.scope).map { TimerReading($0, at: now) }
    case .timers(let ids): Set(ids).sorted().compactMap { reading($0, at: now) }
    }
  }
}
