import TimerCore
import TimerProtocol
import TimerStorage

extension ChangeCause {
  /// The cause of a change of our own, for the store.
  init(_ proposal: Proposal) {
    switch proposal.cause {
    case .started: self = .started
    case .paused: self = .paused
    case .resumed: self = .resumed
    case .finished: self = .finished
    case .reset: self = .reset
    case .adjusted: self = .adjusted
    case .updated: self = .updated
    case .lapped: self = .lapped
    case .external: self = .external
    case .ended(_, let late): self = .ended(proposal.crossings, late: late)
    case .subscribed, .tick, .restored, .continued:
      preconditionFailure("these snapshots show no change")
    }
  }
}

extension ChangeCause {
  /// Puts crossings of zero on a clock that is ahead by `shift`.
  mutating func shift(by shift: Seconds) {
    guard case .ended(let crossings, let late) = self, shift != .zero else { return }
    let moved = crossings.map {
      ZeroCrossing(timer: $0.timer.shifted(by: shift), at: $0.at + shift)
    }
    self = .ended(moved, late: late)
  }
}

extension Proposal {
  /// A change that another server has made.
  init(id: TimerID, after: SharedTimer?, _ cause: ChangeCause) {
    switch cause {
    case .started: self.init(id: id, after: after, cause: .started)
    case .paused: self.init(id: id, after: after, cause: .paused)
    case .resumed: self.init(id: id, after: after, cause: .resumed)
    case .finished: self.init(id: id, after: after, cause: .finished)
    case .reset: self.init(id: id, after: after, cause: .reset)
    case .adjusted: self.init(id: id, after: after, cause: .adjusted)
    case .updated: self.init(id: id, after: after, cause: .updated)
    case .lapped: self.init(id: id, after: after, cause: .lapped)
    case .external: self.init(id: id, after: after, cause: .external)
    case .ended(let crossings, let late):
      let at = crossings.last?.at ?? after?.endedAt ?? .init(.zero)
      self.init(id: id, after: after, cause: .ended(at: at, late: late), crossings: crossings)
    }
  }
}
