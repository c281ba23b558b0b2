import TimerCore
import WebSocketTransport

/// The subscribers of each timer, and of all of them: one group for changes, and one for the ticks of each interval.
struct Channels {
  private var groups: [Channel: Group] = [:]
  private var channelsByGroup: [GroupID: Channel] = [:]
  private var intervals: [TimerID: Set<Seconds>] = [:]
  private var lastGroup: UInt64 = 0
  private var frameKeys: [TimerID: UInt64] = [:]
  private var lastFrameKey = UInt64.max
  private var tickRates = TickRates()

  private struct Group {
    let id: GroupID
    var members: Int
    /// The payer for its ticks: the one that opened it.
    let payer: Payer
  }

  /// The group that is subscribed to a channel; nil without subscribers.
  func group(_ channel: Channel) -> GroupID? {
    groups[channel]?.id
  }

  func channel(_ group: GroupID) -> Channel? {
    channelsByGroup[group]
  }

  /// The tick channels of one timer.
  func tickChannels(of id: TimerID) -> [Channel] {
    intervals[id]?.map { .ticks(.one(id), every: $0) } ?? []
  }

  func hasManyTickChannels(_ id: TimerID) -> Bool {
    (intervals[id]?.count ?? 0) > 1
  }

  /// The tick channels of many timers together.
  private(set) var commonTickChannels: Set<Channel> = []
  /// The groups subscribed to the changes of many timers, one for each scope among the subscribers; most often there is
  /// one.
  private var commonChanges: [TimerScope: GroupID] = [:]

  /// The rate of single timers' ticks that a payer would pay for, in millionths of a tick a second, after closing
  /// channels that only one connection is subscribed to, and opening others.
  func tickRate(
    of payer: Payer, opening opened: some Sequence<Channel>, closing closed: some Sequence<Channel>
  ) -> Int {
    var rate = tickRates[payer]
    for channel in opened where groups[channel] == nil { rate += channel.tickRate }
    for channel in closed {
      guard let group = groups[channel], group.members == 1, group.payer == payer else { continue }
      rate -= channel.tickRate
    }
    return rate
  }

  /// The groups that are subscribed to a timer's changes.
  func groups(subscribedTo id: TimerID) -> [GroupID] {
    var groups = commonChanges.filter { $0.key.contains(id) }.map(\.value)
    if let group = group(.changes(.one(id))) { groups.append(group) }
    return groups
  }

  /// Adds a subscriber to a channel and returns the group to join.
  mutating func join(_ channel: Channel, of payer: Payer) -> GroupID {
    if groups[channel] == nil { open(channel, by: payer) }
    groups[channel]?.members += 1
    guard let group = groups[channel]?.id else { preconditionFailure("it was opened just now") }
    return group
  }

  /// Removes a subscriber from a channel and returns the group to leave.
  mutating func leave(_ channel: Channel) -> GroupID? {
    guard let group = groups[channel] else { return nil }
    groups[channel]?.members -= 1
    if group.members == 1 { close(channel, group) }
    return group.id
  }

  /// The replacement key of one timer's snapshots, of which a slow reader gets only the newest. Keys count down, and
  /// the numbers of groups count up, so that they never meet.
  mutating func frameKey(of id: TimerID) -> UInt64 {
    if let key = frameKeys[id] { return key }
    lastFrameKey -= 1
    frameKeys[id] = lastFrameKey
    return lastFrameKey
  }

  mutating func forgetKey(of id: TimerID) {
    frameKeys[id] = nil
  }

  private mutating func open(_ channel: Channel, by payer: Payer) {
    lastGroup += 1
    groups[channel] = Group(id: GroupID(lastGroup), members: 0, payer: payer)
    tickRates.add(channel.tickRate, to: payer)
    channelsByGroup[GroupID(lastGroup)] = channel
    switch channel {
    case .ticks(.one(let id), let interval, _): intervals[id, default: []].insert(interval)
    case .ticks(.every, _, _): commonTickChannels.insert(channel)
    case .changes(.every(let scope)): commonChanges[scope] = GroupID(lastGroup)
    case .changes(.one): break
    }
  }

  private mutating func close(_ channel: Channel, _ group: Group) {
    groups[channel] = nil
    channelsByGroup[group.id] = nil
    tickRates.subtract(channel.tickRate, from: group.payer)
    switch channel {
    case .ticks(.one(let id), let interval, _):
      intervals[id]?.remove(interval)
      if intervals[id]?.isEmpty == true { intervals[id] = nil }
    case .ticks(.every, _, _): commonTickChannels.remove(channel)
    case .changes(.every(let scope)): commonChanges[scope] = nil
    case .changes(.one): break
    }
  }
}

/// A subject of subscriptions.
enum Channel: Hashable {
  case changes(Scope)
  /// `inParts`: in messages that are not long.
  case ticks(Scope, every: Seconds, inParts: Bool = false)

  enum Scope: Hashable {
    case one(TimerID)
    /// All timers, or those that a token is limited to.
    case every(TimerScope)
  }

  /// The ticks of one timer a second, in millionths. Ticks of all timers have few intervals, and cost nothing here.
  var tickRate: Int {
    guard case .ticks(.one, let interval, _) = self else { return 0 }
    return Int(1_000_000_000_000 / max(1, interval.microseconds))
  }
}

/// The ticks a second on channels that each payer has opened, in millionths.
struct TickRates {
  private var rates: [Payer: Int] = [:]

  subscript(payer: Payer) -> Int { rates[payer] ?? 0 }

  mutating func add(_ rate: Int, to payer: Payer) {
    if rate > 0 { rates[payer, default: 0] += rate }
  }

  mutating func subtract(_ rate: Int, from payer: Payer) {
    guard rate > 0, let sum = rates[payer] else { return }
    rates[payer] = sum > rate ? sum - rate : nil
  }
}
