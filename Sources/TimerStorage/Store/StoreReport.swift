/// The outcome of a change.
public struct StoreReport: Sendable {
  public let ticket: UInt64
  public let outcome: StoreOutcome
  /// The revision that the store gave it in place of the first of `StoredChange.revisions`, if it numbers changes
  /// itself; the others follow without a gap.
  public let revision: Int?

  public init(ticket: UInt64, outcome: StoreOutcome, revision: Int? = nil) {
    self.ticket = ticket
    self.outcome = outcome
    self.revision = revision
  }
}

public enum StoreOutcome: Hashable, Sendable {
  /// It is durable.
  case made
  /// Its request was made before, by this change; it was not made again.
  case repeated(ChangeStamp)
  /// Another server's change of one of its timers came first; it was not made.
  case overtaken
  /// It can't be stored; it was not made.
  case failed(StorageTrouble)
}
