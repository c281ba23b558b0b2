import TimerCore
import TimerProtocol
import WebSocketTransport

/// The server's state for one connection. It is an object, because a value would be looked up and copied at each step
/// of a message.
final class Session {
  let id: ConnectionID
  /// Where it comes from, for the log.
  let address: String
  /// The network of that address; its visitors without a token share a quota of idempotency keys.
  let network: String
  private(set) var grant: Grant
  var budget: RequestBudget
  var replies = ReplyQueue()
  /// The number of unknown tokens that it sent.
  var wrongTokens = 0
  /// Subscriptions to single timers with their intervals; zero means changes only.
  private(set) var intervals: [TimerID: Seconds] = [:]
  /// The subscription to every timer.
  private(set) var intervalOfAll: Seconds?
  /// True if it receives the ticks of all timers in parts.
  private(set) var wantsParts = false
  /// Requests that do not count against the budget that its payer's connections share: some cheap ones and one full
  /// set, so that all screens of a building can reconnect at once.
  var initialAllowance = InitialAllowance()
  /// True if its next reply waits in the queue.
  var isReplyQueued = false
  /// True if the queue has a job for it, even if its reply has been sent meanwhile.
  var hasQueuedJob = false
  /// Timers whose late ends it has received.
  var sentEnds: Set<TimerID> = []
  /// Timers that it is no longer subscribed to, with the revisions up to which it has received every end.
  private var deliveredRevisions: [TimerID: Int] = [:]
  private var deliveredToAll: (scope: TimerScope, revision: Int)?

  init(
    id: ConnectionID, address: String, network: String, grant: Grant, budget: RequestBudget
  ) {
    self.id = id
    self.address = address
    self.network = network
    self.grant = grant
    self.budget = budget
  }

  /// Replaces the grant, and ends subscriptions that it does not cover.
  func accept(_ grant: Grant, at revision: Int) {
    if intervalOfAll != nil { deliveredToAll = (self.grant.scope, revision) }
    self.grant = grant
    for id in intervals.keys where !grant.shows(id) {
      intervals[id] = nil
      deliveredRevisions[id] = revision
    }
    forgetOldest()
  }

  /// The highest revision up to which it has received every end of a timer; nil if it was never subscribed to it.
  /// `published` is the highest revision of all.
  func deliveredRevision(of id: TimerID, published: Int) -> Int? {
    if isSubscribed(to: id) { return published }
    let all = deliveredToAll.flatMap { $0.scope.contains(id) ? $0.revision : nil }
    guard let one = deliveredRevisions[id] else { return all }
    return max(one, all ?? one)
  }

  var peer: Peer { Peer(address: address, network: network) }
  var payer: Payer { Payer(grant, network: network) }

  var caller: Caller { Caller(grant: grant, network: network) }

  var subscriptionCount: Int {
    intervals.count + (intervalOfAll == nil ? 0 : 1)
  }

  /// The number of subscriptions after adding these.
  func subscriptionCount(with selection: TimerSelection) -> Int {
    switch selection {
    case .all: intervals.count + 1
    case .timers(let ids):
      subscriptionCount + Set(ids).count { intervals[$0] == nil }
    }
  }

  /// Returns whether it is subscribed to this timer, alone or with all.
  func isSubscribed(to id: TimerID) -> Bool {
    intervals[id] != nil || intervalOfAll != nil && grant.scope.contains(id)
  }

  func subscribe(_ selection: TimerSelection, interval: Seconds, inParts: Bool = false) {
    switch selection {
    case .all:
      intervalOfAll = interval
      wantsParts = inParts
    case .timers(let ids): for id in ids { intervals[id] = interval }
    }
  }

  /// `*` stands for every timer: nothing is left then. Ends were sent up to `revision`.
  func unsubscribe(_ selection: TimerSelection, at revision: Int) {
    switch selection {
    case .all:
      if intervalOfAll != nil { deliveredToAll = (grant.scope, revision) }
      for id in intervals.keys { deliveredRevisions[id] = revision }
      intervalOfAll = nil
      intervals = [:]
    case .timers(let ids):
      for id in ids where intervals.removeValue(forKey: id) != nil {
        deliveredRevisions[id] = revision
      }
    }
    forgetOldest()
  }

  /// Keeps the newest revisions, however many timers it subscribes to. Ends of the others may be sent to it again.
  private func forgetOldest() {
    guard deliveredRevisions.count > 2 * Self.deliveredRevisionsMax else { return }
    let newest = deliveredRevisions.sorted { $0.value > $1.value }.prefix(
      Self.deliveredRevisionsMax)
    deliveredRevisions = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
  }

  /// So many names are kept at least.
  private static let deliveredRevisionsMax = 1_000

  /// The channels of its subscriptions. A subscriber to all timers receives each change once; all timers are those that
  /// it may see.
  var channels: Set<Channel> { channels(touchedBy: .all) }

  /// Those of them that may be others after a change of these subscriptions: few of few, however many there are.
  func channels(touchedBy selection: TimerSelection) -> Set<Channel> {
    var channels: Set<Channel> = []
    switch selection {
    case .timers(let ids): for id in ids { addChannels(of: id, to: &channels) }
    case .all:
      if let intervalOfAll {
        channels.insert(.changes(.every(grant.scope)))
        if intervalOfAll > .zero {
          channels.insert(
            .ticks(.every(grant.scope), every: intervalOfAll, inParts: wantsParts))
        }
      }
      for id in intervals.keys { addChannels(of: id, to: &channels) }
    }
    return channels
  }

  /// The tick channels that single timers would have with another interval, and those that they have now.
  func tickChannels(
    of ids: Set<TimerID>, at interval: Seconds
  ) -> (opened: [Channel], closed: [Channel]) {
    var opened: [Channel] = []
    var closed: [Channel] = []
    for id in ids where intervals[id] != interval {
      if interval > .zero { opened.append(.ticks(.one(id), every: interval)) }
      if let before = intervals[id], before > .zero {
        closed.append(.ticks(.one(id), every: before))
      }
    }
    return (opened, closed)
  }

  private func addChannels(of id: TimerID, to channels: inout Set<Channel>) {
    guard let interval = intervals[id] else { return }
    if intervalOfAll == nil { channels.insert(.changes(.one(id))) }
    if interval > .zero { channels.insert(.ticks(.one(id), every: interval)) }
  }
}

/// A new connection's allowance before its requests count for all connections of its payer.
struct InitialAllowance {
  private var requestsLeft = 16
  private var hasFullSet = false

  /// Returns whether a request of so many units is one of the first.
  mutating func spend(_ cost: Int) -> Bool {
    guard requestsLeft >= cost else { return false }
    requestsLeft -= cost
    return true
  }

  /// Returns whether this is the first full set.
  mutating func spendFullSet() -> Bool {
    defer { hasFullSet = true }
    return !hasFullSet
  }
}
