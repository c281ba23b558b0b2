/// Where timers are kept: the one seam between a server and whatever makes its changes durable.
///
/// The server decides and submits; the store answers each change with an event. Events go to the closure that the
/// store was made with, on a thread of the store's own, in this order: reports in the order of their tickets, and
/// each after all changes by other servers that the store put before it. So revisions rise from event to event. Until
/// `load` has returned, events may come on the caller's thread. The closure must not call the store.
public protocol TimerStore: AnyObject, Sendable {
  /// Reads everything that is stored; called once, before all else.
  func load() throws(StoreFailure) -> StoreContents

  /// Reports changes by others from here on. Throws what is missing for reporting them at once; they are reported
  /// late then.
  func watch() throws(StorageTrouble)

  /// Stores changes, each as a whole or not at all, and reports on each. Changes that arrive while a group is being
  /// stored go together in the next. Any thread; returns at once.
  func submit(_ changes: [StoredChange])

  /// Called once the server has handled `StoreEvent.restored`: changes submitted from here on were decided on the
  /// contents of that event.
  func acknowledgeReplacement()

  /// The number of submitted changes that were not reported. Any thread; never waits.
  var unreportedCount: Int { get }

  /// Returns once all that was submitted is reported and in its final place, however long that takes; not for the
  /// thread of the event loop while it runs.
  func finish()

  /// As `finish()`, for at most `seconds`.
  func finish(within seconds: Double) -> StoreFinish
}

/// How far a store came in the time that it was given to finish.
public enum StoreFinish: Sendable, Equatable {
  /// All that was submitted is reported and in its final place, as far as the store accepts it.
  case done
  /// All is reported, and there was no time to put all of it in its final place; the next start does that.
  case behind
  /// The store did not answer.
  case unanswered
}

/// Why a store can't be used.
public enum StoreFailure: Error, Hashable, Sendable {
  /// It holds what a newer version of the program has written.
  case newer(String)
  case unusable(String)
}
