public import TimerCore

/// An event that a store reports to its server.
public enum StoreEvent: Sendable {
  /// The outcomes of changes that the server submitted.
  case reported([StoreReport])
  /// Changes that other servers have made, in the order of their revisions.
  case changed([RemoteChange])
  /// Edits by hand, which no server has made.
  case external([ExternalChange])
  /// Changes that are safe and can't be put in their final places; none: all is well again.
  case behind([StorageTrouble])
  /// Changes are refused for this reason; nil: they are accepted again.
  case writable(StorageTrouble?)
  /// Everything that is stored was replaced: these contents take the place of all before. Every change is refused
  /// until `TimerStore.acknowledgeReplacement` is called.
  case restored(StoreContents)
}

/// A change that someone made by hand to what is stored. It has no revision until the server has stored it as a
/// change of its own.
public enum ExternalChange: Sendable {
  case edited(TimerRecord)
  case removed(TimerID)
  /// It was left as it is; the timer stays what it was.
  case damaged(StoreFault)
  /// An unusable file in the timer's place is gone, and the timer is written there again.
  case released(TimerID)
}

/// A place in the store that holds no usable timer, and why.
public struct StoreFault: Hashable, Sendable {
  /// The name of the place, as people see it.
  public let place: String
  /// The timer that the place belongs to.
  public let timer: TimerID?
  public let fault: RecordFault
  /// Where the contents are now, if they were moved.
  public var movedTo: String?

  public init(place: String, timer: TimerID?, fault: RecordFault, movedTo: String? = nil) {
    self.place = place
    self.timer = timer
    self.fault = fault
    self.movedTo = movedTo
  }
}
