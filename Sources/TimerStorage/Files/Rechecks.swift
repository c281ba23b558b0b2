/// What was found in doubt, and may be told only when a second look finds it too: who replaces a file in two steps
/// leaves none, or half of one, in between.
///
/// A look that finds something else ends the doubt, so that a second look counts only for what was found all the time.
struct Rechecks<Subject: Hashable, Finding: Equatable> {
  private var doubts: [Subject: Doubt] = [:]
  private var doubtsEver: UInt64 = 0

  private struct Doubt {
    let finding: Finding
    let number: UInt64
  }

  /// What is in doubt.
  var subjects: [Subject] { Array(doubts.keys) }

  /// The number of the second look that has to be made; nil when one is coming already.
  mutating func schedule(_ subject: Subject, finding: Finding) -> UInt64? {
    guard doubts[subject]?.finding != finding else { return nil }
    doubtsEver += 1
    doubts[subject] = Doubt(finding: finding, number: doubtsEver)
    return doubtsEver
  }

  /// A look found nothing doubtful.
  mutating func cancel(_ subject: Subject) {
    doubts[subject] = nil
  }

  /// What the second look with this number has to find; nil when it is not wanted any more.
  mutating func complete(_ subject: Subject, _ number: UInt64) -> Finding? {
    guard let doubt = doubts[subject], doubt.number == number else { return nil }
    doubts[subject] = nil
    return doubt.finding
  }
}
