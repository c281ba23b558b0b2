import TimerCore
import TimerProtocol

/// The subscriptions of one connection, and how far each timer's ends were sent to it.
struct Subscriptions {
  /// The timers that the connection may see.
  private var scope: TimerScope
  /// Subscriptions to single timers with their intervals; zero means changes only.
  private var intervals: [TimerID: Seconds] = [:]
  /// The subscription to every timer.
  private var intervalOfAll: Seconds?
  /// True if it receives the ticks of all timers in parts.
  private var wantsParts = false
  /// Timers whose late ends were sent.
  var sentEnds: Set<TimerID> = []
  /// Timers that it is no longer subscribed to, with the revisions up to which every end was sent.
  private var deliveredRevisions: [TimerID: Int] = [:]
  private var deliveredToAll: (scope: TimerScope, revision: Int)?

  init(in scope: TimerScope) {
    self.scope = scope
  }

  // MARK: Looking

  var count: Int { intervals.count + (intervalOfAll == nil ? 0 : 1) }

  /// The number of subscriptions after adding these.
  func count(with selection: TimerSelection) -> Int {
    switch selection {
    case .all: intervals.count + 1
    case .timers(let ids): count + Set(ids).count { intervals[$0] == nil }
    }
  }

  /// Returns whether it has this timer, alone or with all.
  func contains(_ id: TimerID) -> Bool {
    intervals[id] != nil || intervalOfAll != nil && scope.contains(id)
  }

  /// The highest revision up to which every end of a timer was sent; nil if it was never among them. `published` is the
  /// highest revision of all.
  func deliveredRevision(of id: TimerID, published: Int) -> Int? {
    if contains(id) { return published }
    let all = deliveredToAll.flatMap { $0.scope.contains(id) ? $0.revision : nil }
    guard let one = deliveredRevisions[id] else { return all }
    return max(one, all ?? one)
  }

  // MARK: Changing

  /// Ends those that a new grant does not cover. Ends were sent up to `revision`.
  mutating func accept(_ grant: Grant, at revision: Int) {
    if intervalOfAll != nil { deliveredToAll = (scope, revision) }
    scope = grant.scope
    for id in intervals.keys where !grant.shows(id) {
      intervals[id] = nil
      deliveredRevisions[id] = revision
    }
    forgetOldest()
  }

  mutating func add(_ selection: TimerSelection, interval: Seconds, inParts: Bool = false) {
    switch selection {
    case .all:
      intervalOfAll = interval
      wantsParts = inParts
    case .timers(let ids): for id in ids { intervals[id] = interval }
    }
  }

  /// `*` stands for every timer: nothing is left then. Ends were sent up to `revision`.
  mutating func remove(_ selection: TimerSelection, at revision: Int) {
    switch selection {
    case .all:
      if intervalOfAll != nil { deliveredToAll = (scope, revision) }
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
  private mutating func forgetOldest() {
    guard deliveredRevisions.count > 2 * Self.deliveredRevisionsMax else { return }
    let newest = deliveredRevisions.sorted { $0.value > $1.value }.prefix(
      Self.deliveredRevisionsMax)
    deliveredRevisions = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
  }

  /// The number of names that are always kept.
  private static let deliveredRevisionsMax = 1_000

  // MARK: Channels

  /// Its channels. A subscriber to all timers receives each change once; all timers are those that it may see.
  var channels: Set<Channel> { channels(touchedBy: .all) }

  /// Those of them that may be others after a change of these subscriptions: few of few, however many there are.
  func channels(touchedBy selection: TimerSelection) -> Set<Channel> {
    var channels: Set<Channel> = []
    switch selection {
    case .timers(let ids): for id in ids { insertChannels(of: id, into: &channels) }
    case .all:
      if let intervalOfAll {
        channels.insert(.changes(.every(scope)))
        if intervalOfAll > .zero {
          channels.insert(.ticks(.every(scope), every: intervalOfAll, inParts: wantsParts))
        }
      }
      for id in intervals.keys { insertChannels(of: id, into: &channels) }
    }
    return channels
  }

  private func insertChannels(of id: TimerID, into channels: inout Set<Channel>) {
    guard let interval = intervals[id] else { return }
    if intervalOfAll == nil { channels.insert(.changes(.one(id))) }
    if interval > .zero { channels.insert(.ticks(.one(id), every: interval)) }
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
}
