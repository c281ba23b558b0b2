import SharedAlgorithms
import TimerCore

/// Names in their order, kept so as they come and go: a list of all is asked for more often than it changes.
struct SortedNames {
  private(set) var names: [TimerID] = []

  /// Those of a scope that are sorted after one, or all of them; found without a look at the others.
  func names(in scope: TimerScope, after name: TimerID? = nil) -> some Sequence<TimerID> {
    var first = 0
    if let name {
      first = place(of: name)
      if first < names.count, names[first] == name { first += 1 }
    }
    let names = names
    return places(in: scope).lazy.filter { $0.upperBound > first }.flatMap {
      names[max($0.lowerBound, first)..<$0.upperBound]
    }
  }

  /// The number of names in a scope.
  func count(in scope: TimerScope) -> Int {
    places(in: scope).reduce(0) { $0 + $1.count }
  }

  private func places(in scope: TimerScope) -> [Range<Int>] {
    guard case .matching(let patterns) = scope else { return [names.indices] }
    let ranges = patterns.map(places(of:)).sorted {
      ($0.lowerBound, $1.upperBound) < ($1.lowerBound, $0.upperBound)
    }
    // Of two patterns one matches all that the other does, or they have no name in common.
    var apart: [Range<Int>] = []
    for range in ranges where range.upperBound > apart.last?.upperBound ?? 0 {
      if !range.isEmpty { apart.append(range) }
    }
    return apart
  }

  /// Names that match a pattern are adjacent.
  private func places(of pattern: TimerPattern) -> Range<Int> {
    let first = names.partitioningIndex { pattern.isSorted(behind: $0) }
    return first..<names[first...].partitioningIndex { pattern.matches($0) }
  }

  mutating func insert(_ name: TimerID) {
    let place = place(of: name)
    guard place == names.count || names[place] != name else { return }
    names.insert(name, at: place)
  }

  mutating func remove(_ name: TimerID) {
    let place = place(of: name)
    guard place < names.count, names[place] == name else { return }
    names.remove(at: place)
  }

  /// Where a name stands, or would.
  private func place(of name: TimerID) -> Int {
    // Most come in their order, as from the disk.
    guard let last = names.last, !(last < name) else { return names.count }
    return names.partitioningIndex { $0 < name }
  }
}
