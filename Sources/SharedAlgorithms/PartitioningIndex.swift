extension RandomAccessCollection {
  /// The first index whose element does not belong to the first part, or the end; found by binary search. `isInFirstPart`
  /// has to be true for all elements before some index, and false from there on.
  @inlinable public func partitioningIndex(
    by isInFirstPart: (Element) throws -> Bool
  ) rethrows -> Index {
    var start = startIndex
    var count = count
    while count > 0 {
      let half = count / 2
      let middle = index(start, offsetBy: half)
      if try isInFirstPart(self[middle]) {
        start = index(after: middle)
        count -= half + 1
      } else {
        count = half
      }
    }
    return start
  }
}
