public import TimerCore

/// Everything that a store holds, as a server reads it at its start.
public struct StoreContents: Sendable {
  public var timers: [TimerRecord] = []
  public var server = ServerRecord()
  /// Identifies the data; it is a new one when changes that were answered are lost.
  public var history = ""
  /// The named changes of the last minutes, on the clock of this process.
  public var requests: [IdempotencyEntry] = []
  /// The change that each timer comes from; empty where no other server can change them.
  public var stamps: [TimerID: ChangeStamp] = [:]
  /// Places that hold no usable timer.
  public var faults: [StoreFault] = []
  /// The names of what is in quarantine, old and new.
  public var quarantined: [String] = []
  /// Remarks for the operator.
  public var remarks: [String] = []

  public init() {}

  /// The same on the clock of `now`: the one place where instants of earlier processes are moved.
  public func moved(to now: ClockReading) -> StoreContents {
    var moved = self
    moved.timers = timers.map { $0.moved(to: now, by: server.lastClocks) }
    moved.server = server.moved(to: now)
    return moved
  }
}
