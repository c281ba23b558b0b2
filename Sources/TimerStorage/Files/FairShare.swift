/// Makes room among many owners: the oldest elements of the owner with the most go first.
public enum FairShare {
  /// The newest of `elements`, oldest first as they came, at most `total` in all: an owner with fewer than its share
  /// keeps all of its own, however many another one has.
  public static func newest<Element, Owner: Hashable>(
    of elements: [Element], atMost total: Int, by owner: (Element) -> Owner
  ) -> [Element] {
    guard elements.count > total else { return elements }
    var counts: [Owner: Int] = [:]
    for element in elements { counts[owner(element), default: 0] += 1 }
    let share = share(of: counts.values.sorted(), in: total)
    var kept: [Element] = []
    kept.reserveCapacity(total)
    var taken: [Owner: Int] = [:]
    for element in elements.reversed() {
      let owner = owner(element)
      guard taken[owner, default: 0] < share else { continue }
      taken[owner, default: 0] += 1
      kept.append(element)
    }
    return kept.reversed()
  }

  /// The most that one owner may keep, so that all of them together keep at most `total`; at least one.
  private static func share(of counts: [Int], in total: Int) -> Int {
    var left = total
    for (index, count) in counts.enumerated() {
      let share = left / (counts.count - index)
      if count > share { return max(1, share) }
      left -= count
    }
    return counts.last ?? total
  }
}
