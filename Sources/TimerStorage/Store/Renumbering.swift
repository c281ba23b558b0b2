public import TimerCore

/// The revisions that a store gave in place of those that a server had given before.
///
/// Revisions that a change has from the one before it become those that were stored: the server may have decided before
/// it knew them. All of them are below the ones that it gave to the change itself.
public struct Renumbering: Sendable {
  /// The first revision that the server gave.
  private let first: Int
  /// The difference to the final ones.
  private let shift: Int

  /// `final` is the revision in place of `first`; the others follow.
  public init(from first: Int, to final: Int) {
    self.first = first
    shift = final - first
  }

  /// The final revision in place of one that the server gave.
  public func final(_ given: Int) -> Int { given + shift }

  private func isOwn(_ revision: Int) -> Bool { revision >= first }

  /// `before` is the timer as it is stored.
  public func timer(_ timer: SharedTimer, after before: SharedTimer?) -> SharedTimer {
    var next = timer
    next.revision = isOwn(timer.revision) ? final(timer.revision) : before?.revision ?? 0
    next.runRevision = timer.runRevision.map { run in
      isOwn(run) ? final(run) : before?.runRevision ?? run
    }
    return next
  }

  public func crossing(_ crossing: ZeroCrossing, after before: SharedTimer?) -> ZeroCrossing {
    ZeroCrossing(timer: timer(crossing.timer, after: before), at: crossing.at)
  }

  /// `before` is what is stored.
  public func record(_ record: TimerRecord, after before: TimerRecord?) -> TimerRecord {
    var next = record
    next.timer = timer(record.timer, after: before?.timer)
    next.ends = carried(record.ends, before?.ends ?? [], \.revision) { end, revision in
      TimerEnd(at: end.at, revision: revision, isDelivered: end.isDelivered)
    }
    next.answered = carried(record.answered, before?.answered ?? [], \.revision) {
      $0.numbered($1)
    }
    return next
  }

  /// The older elements have the revisions of the last ones before, and the others have final ones.
  private func carried<Element>(
    _ elements: [Element], _ before: [Element], _ revision: KeyPath<Element, Int>,
    numbered: (Element, Int) -> Element
  ) -> [Element] {
    let older = elements.prefix { !isOwn($0[keyPath: revision]) }
    let known = before.suffix(older.count)
    let unknown = older.prefix(older.count - known.count)
    let last = zip(older.suffix(known.count), known).map { numbered($0, $1[keyPath: revision]) }
    let own = elements.dropFirst(older.count).map { numbered($0, final($0[keyPath: revision])) }
    return unknown + last + own
  }
}

extension IdempotencyRecord {
  /// The same request with another revision.
  public func numbered(_ revision: Int) -> IdempotencyRecord {
    IdempotencyRecord(
      requestId: requestId, revision: revision, at: Instant(Seconds(clamping: at)),
      fingerprint: fingerprint, principal: principal, network: network)
  }
}
