/// Counts the connections of each network.
struct AddressTally: Sendable {
  private var counts: [IPAddress: Int] = [:]

  /// Adds one, and answers how many there are then.
  mutating func add(_ network: IPAddress) -> Int {
    let count = counts[network, default: 0] + 1
    counts[network] = count
    return count
  }

  /// Takes one away.
  mutating func subtract(_ network: IPAddress) {
    guard let count = counts[network] else { return }
    counts[network] = count > 1 ? count - 1 : nil
  }
}
