import TimerCore
import TimerProtocol
import TimerStorage

/// The stages in the life of a change: decided, submitted, and then one of four ends.
enum ChangeStage: Equatable {
  /// It is the latest state of its timers.
  case decided
  /// It is on its way to the store.
  case submitted
  /// It is durable: the requester is answered, and everybody is shown the state.
  case published
  /// Its request was made before; the requester gets that result.
  case repeated
  /// Another server's change came first; its request is decided again.
  case overtaken
  /// The store refused it, and so its request is refused.
  case failed

  /// Returns whether a change may go on from here to there.
  func leads(to next: ChangeStage) -> Bool {
    switch self {
    case .decided: next == .submitted
    case .submitted: next != .decided && next != .submitted
    case .published, .repeated, .overtaken, .failed: false
    }
  }
}

/// One change of one or more timers, all or nothing, and the requesters that wait for it.
struct PendingChange {
  let ticket: UInt64
  private(set) var stage = ChangeStage.decided
  var proposals: [Proposal] = []
  /// The metadata of each timer after the change.
  var metadata: [TimerTable.Metadata] = []
  var waiters: [Waiter] = []
  /// True for the server's own work, which no requester waits for.
  var isInternal = false
  /// The server's record, if this change contains it.
  var server: ServerRecord?
  /// The revisions that it gave; nil: none.
  var revisions: ClosedRange<Int>?
  /// The highest revision that it gave; 0: none.
  var revision: Int { revisions?.upperBound ?? 0 }

  init(ticket: UInt64, isInternal: Bool = false) {
    self.ticket = ticket
    self.isInternal = isInternal
  }

  mutating func advance(to next: ChangeStage) {
    precondition(stage.leads(to: next), "a change is submitted once and ends once")
    stage = next
  }

  /// Gives one of its timers final revisions; `before` is the timer as it is stored.
  mutating func renumber(_ index: Int, _ final: Renumbering, after before: TimerRecord?) {
    proposals[index].crossings = proposals[index].crossings.map {
      final.crossing($0, after: before?.timer)
    }
    guard let after = proposals[index].after else { return }
    // The clocks are no part of what is kept here.
    let clock = before?.clock ?? ClockReading(server: after.changedAt, boot: .zero, bootID: "")
    let record = final.record(metadata[index].record(of: after, clock), after: before)
    proposals[index].after = record.timer
    metadata[index] = TimerTable.Metadata(record)
  }

  /// How each timer is changed, in the words of the store.
  var causes: [TimerID: ChangeCause] {
    var causes: [TimerID: ChangeCause] = [:]
    for proposal in proposals { causes[proposal.id] = ChangeCause(proposal) }
    return causes
  }

  /// The states that came of it, each as of the instant of its change.
  var readings: [TimerReading] {
    proposals.compactMap(\.after).map { TimerReading($0, at: $0.changedAt) }
  }
}

extension PendingChange {
  /// The result for the requester.
  func outcome(of answer: Waiter.Answer) -> Outcome {
    switch answer {
    case .changedTimer: readings.first.map { .timer($0) } ?? .done
    case .changedTimers: .timers(readings)
    case .nothingFinished: .timers([])
    case .refusal: .done
    }
  }
}
