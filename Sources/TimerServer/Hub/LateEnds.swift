import TimerCore
import TimerProtocol
import TimerStorage

/// Crossings of zero that happened while the server was down. Clients that connect soon after the start receive them.
struct LateEnds {
  let startedAt: Instant
  private var ends: [TimerID: [Instant]] = [:]

  /// How long after the start new connections receive late ends.
  static let replayWindow: Seconds = 60

  init(startedAt: Instant) {
    self.startedAt = startedAt
  }

  mutating func add(_ id: TimerID, endedAt: Instant) {
    let known = ends[id] ?? []
    guard !known.contains(endedAt) else { return }
    ends[id] = (known + [endedAt]).suffix(TimerEnd.kept)
  }

  /// Removes the ends of a removed timer.
  mutating func remove(_ id: TimerID) {
    ends[id] = nil
  }

  /// The ends of the selected timers, sorted by name. The cost grows with the selection: after a restart all clients
  /// ask at once, most of them for one timer each.
  func among(
    _ selection: TimerSelection, at now: Instant
  ) -> [(id: TimerID, ends: [Instant])] {
    guard !ends.isEmpty, isWithinReplayWindow(now) else { return [] }
    let ids =
      switch selection {
      case .all: Set(ends.keys)
      case .timers(let ids): Set(ids).filter { ends[$0] != nil }
      }
    return ids.sorted().map { (id: $0, ends: ends[$0] ?? []) }
  }

  /// Returns whether new connections still receive late ends.
  func isWithinReplayWindow(_ now: Instant) -> Bool {
    now < startedAt + Self.replayWindow
  }
}
