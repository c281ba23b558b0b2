import TimerCore

/// Counts refusals, so that the log gets a summary a minute instead of a line for each.
///
/// The first refusal of a subject is logged at once, and later ones at the end of the minute. After a quiet minute the
/// next one is a first again. Since clients choose what they send, the number of subjects of a kind is limited.
struct RefusalTally {
  private var counts: [RefusalSubject: Count] = [:]
  /// Refusals of subjects over the limit.
  private var others: [RefusalSubject.Kind: Int] = [:]
  private var countedSince: Instant?

  private struct Count {
    var all = 0
    var logged = 0
  }

  /// The number of subjects of one kind with lines of their own.
  private static let subjectsMax = 8
  static let pause: Seconds = 60

  /// Counts a refusal; returns a line if it is the subject's first.
  mutating func add(_ reason: RefusalReason) -> LogLine? {
    let subject = RefusalSubject(reason)
    if counts[subject] == nil {
      if let kind = subject.kind, counts.keys.count(where: { $0.kind == kind }) >= Self.subjectsMax
      {
        others[kind, default: 0] += 1
        return nil
      }
      counts[subject] = Count(all: 1, logged: 1)
      return subject.first
    }
    counts[subject]?.all += 1
    return nil
  }

  /// The lines of a minute when it is over. To be asked now and then; a minute begins with the first time that there is
  /// something to be counted.
  mutating func linesDue(at now: Instant) -> [LogLine] {
    guard !counts.isEmpty else { return [] }
    let since = countedSince ?? now
    countedSince = since
    guard now - since >= Self.pause else { return [] }
    countedSince = now
    return collect()
  }

  /// The lines that are not logged yet, sorted; quiet subjects are removed.
  mutating func collect() -> [LogLine] {
    var lines = counts.filter { $0.value.all > $0.value.logged }
      .map { $0.key.line($0.value.all) }
      .sorted { ($0.level.rawValue, $0.text) < ($1.level.rawValue, $1.text) }
    for kind in RefusalSubject.Kind.allCases {
      if let count = others[kind] { lines.append(RefusalSubject.line(count, othersOf: kind)) }
    }
    others = [:]
    counts = counts.compactMapValues { $0.all > $0.logged ? Count() : nil }
    if counts.isEmpty { countedSince = nil }
    return lines
  }
}
