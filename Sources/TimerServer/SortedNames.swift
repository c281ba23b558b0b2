import TimerCore

/// Names in their order, kept so as they come and go: a list of all is asked for more often than it changes.
struct SortedNames {
  private(set) var names: [TimerID] = []

  /// Those that are sorted after one; nil: all.
  func names(after name: TimerID?) -> ArraySlice<TimerID> {
    guard let name else { return names[...] }
    let place = place(of: name)
    return names[(place < names.count && names[place] == name ? place + 1 : place)...]
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
    var range = 0..<names.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = names[middle] < name ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
