public import TimerCore

/// One change for the store: all of it or nothing.
public struct StoredChange: Hashable, Sendable {
  public let stamp: ChangeStamp
  /// The next records of the timers; nil: the timer is removed.
  public var timers: [TimerID: TimerRecord?]
  /// The server's record, if it changes too.
  public let server: ServerRecord?
  /// The tickets of the changes that this one builds on, as far as they were under way. It fails where one of them
  /// failed, and is overtaken where one of them was not made for another reason.
  public let bases: Set<UInt64>
  /// The highest ticket whose report was handled by the time of this change: nothing depends on earlier failures.
  public let reported: UInt64
  /// The clocks' readings when the change was decided.
  public let clock: ClockReading?
  /// The change that each timer came from when this one was decided; none: there was no such timer, or it was to be
  /// removed by one of `bases`.
  public var expected: [TimerID: ChangeStamp] = [:]
  /// The revisions that the server gave. nil: nothing that a client sees is changed.
  public var revisions: ClosedRange<Int>?
  /// How each timer was changed.
  public var causes: [TimerID: ChangeCause] = [:]
  /// The request that asked for it, if that had an idempotency key.
  public var request: IdempotencyRecord?
  /// Timers that someone has removed by hand: what is in their places by now must not be removed by this change.
  public var goneAlready: Set<TimerID> = []

  public init(
    stamp: ChangeStamp, timers: [TimerID: TimerRecord?], server: ServerRecord? = nil,
    bases: Set<UInt64> = [], reported: UInt64 = 0, clock: ClockReading? = nil
  ) {
    self.stamp = stamp
    self.timers = timers
    self.server = server
    self.bases = bases
    self.reported = reported
    self.clock = clock
  }

  /// A change of the only server that there is.
  public init(
    ticket: UInt64, timers: [TimerID: TimerRecord?], server: ServerRecord? = nil,
    bases: Set<UInt64> = [], reported: UInt64 = 0, clock: ClockReading? = nil
  ) {
    self.init(
      stamp: ChangeStamp(server: "", ticket: ticket), timers: timers, server: server,
      bases: bases, reported: reported, clock: clock)
  }

  public var ticket: UInt64 { stamp.ticket }
}

/// Identifies a change among those of all servers. It is known before the change is stored, unlike its revision.
public struct ChangeStamp: Hashable, Sendable, CustomStringConvertible {
  /// Names one run of one server.
  public let server: String
  /// Counts the changes of that run.
  public let ticket: UInt64

  public init(server: String, ticket: UInt64) {
    self.server = server
    self.ticket = ticket
  }

  public var description: String { "\(server):\(ticket)" }
}

/// How a timer was changed.
public enum ChangeCause: Hashable, Sendable {
  case started, paused, resumed, finished, reset, adjusted, updated, lapped
  /// By hand.
  case external
  /// It crossed zero, once or more often; late if no server ran then.
  case ended([ZeroCrossing], late: Bool)
}

/// A change that another server has made. It has its final revisions, and needs no answer.
public struct RemoteChange: Sendable {
  public let stamp: ChangeStamp
  /// The highest revision that it was given.
  public let revision: Int
  /// The records since; nil: the timer was removed.
  public let timers: [TimerID: TimerRecord?]
  /// How each timer was changed; none: nothing that a client sees.
  public let causes: [TimerID: ChangeCause]
  public let request: IdempotencyRecord?

  public init(
    stamp: ChangeStamp, revision: Int, timers: [TimerID: TimerRecord?],
    causes: [TimerID: ChangeCause] = [:], request: IdempotencyRecord? = nil
  ) {
    self.stamp = stamp
    self.revision = revision
    self.timers = timers
    self.causes = causes
    self.request = request
  }
}
