/// Counts the connections of each network.
struct AddressTally: Sendable {
  private var counts: [IPAddress: Int] = [:]

  /// Adds a connection, and returns the network's count with it.
  mutating func add(_ network: IPAddress) -> Int {
    let count = counts[network, default: 0] + 1
    counts[network] = count
    return count
  }

  /// Subtracts a connection.
  mutating func subtract(_ network: IPAddress) {
    guard let count = counts[network] else { return }
    counts[network] = count > 1 ? count - 1 : nil
  }
}
