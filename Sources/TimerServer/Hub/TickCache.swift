import TimerCore

/// The messages of ticks that are due at one instant, which are the same for all intervals that meet there.
struct TickCache {
  private var instant: Instant?
  private var texts: [Subject: [[UInt8]]] = [:]

  /// The timers of a tick.
  enum Subject: Hashable {
    case one(TimerID)
    case every(TimerScope, inParts: Bool)
  }

  /// The messages that were already made for this instant.
  func texts(of subject: Subject, at due: Instant) -> [[UInt8]]? {
    instant == due ? texts[subject] : nil
  }

  mutating func insert(_ made: [[UInt8]], of subject: Subject, at due: Instant) {
    if instant != due { texts = [:] }
    instant = due
    texts[subject] = made
  }

  /// A timer has changed.
  mutating func invalidate() {
    instant = nil
  }
}
