/// Findings that are reported only when a second check confirms them: a program that replaces a file in two steps
/// leaves none, or half of one, in between.
///
/// A check that finds something else starts over, so that a second check only confirms what was found all the time.
struct Rechecks<Subject: Hashable, Finding: Equatable> {
  private var doubts: [Subject: Doubt] = [:]
  private var doubtsEver: UInt64 = 0

  private struct Doubt {
    let finding: Finding
    let number: UInt64
  }

  /// The subjects whose findings are not confirmed.
  var subjects: [Subject] { Array(doubts.keys) }

  /// Returns the number of the second check to make; nil when one is scheduled already.
  mutating func schedule(_ subject: Subject, finding: Finding) -> UInt64? {
    guard doubts[subject]?.finding != finding else { return nil }
    doubtsEver += 1
    doubts[subject] = Doubt(finding: finding, number: doubtsEver)
    return doubtsEver
  }

  /// Ends the doubt: a check found nothing doubtful.
  mutating func cancel(_ subject: Subject) {
    doubts[subject] = nil
  }

  /// The finding that the second check with this number has to confirm; nil if it is not needed any more.
  mutating func complete(_ subject: Subject, _ number: UInt64) -> Finding? {
    guard let doubt = doubts[subject], doubt.number == number else { return nil }
    doubts[subject] = nil
    return doubt.finding
  }
}
