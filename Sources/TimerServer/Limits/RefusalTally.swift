import TimerCore

/// How often what was refused, so that the log tells it once a minute and not each time.
///
/// The first of a subject is told at once, and those that follow at the end of the minute. A subject that was quiet for a
/// minute is a first one again. Clients choose what they send, so only so many subjects of a kind are told apart.
struct RefusalTally {
  private var counts: [RefusalSubject: Count] = [:]
  /// Those that are not told apart.
  private var others: [RefusalSubject.Kind: Int] = [:]
  private var countedSince: Instant?

  private struct Count {
    var all = 0
    var logged = 0
  }

  /// So many subjects of one kind are told apart.
  private static let subjectsMax = 8
  static let pause: Seconds = 60

  /// Counts one; the line that tells of it when it is a first one.
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

  /// What is not told yet, in a steady order; subjects that were quiet are forgotten.
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
