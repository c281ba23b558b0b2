import Synchronization

/// Counts the connections of each address, except those that no limit applies to.
struct AddressCounts {
  private var own = AddressTally()
  /// Where there are several loops, these counts replace `own`.
  private let totals: LoopTotals?
  private let connectionsMax: Int
  private let isLoopbackBounded: Bool
  private let trusted: [AddressRange]

  init(_ options: TransportOptions, _ totals: LoopTotals? = nil) {
    self.totals = totals
    connectionsMax = max(1, options.connectionsPerAddressMax)
    isLoopbackBounded = options.isLoopbackBounded
    trusted = options.trustedProxies
  }

  /// Acquires a slot for a connection; nil when no limit applies to its address.
  mutating func acquireSlot(for address: IPAddress?) -> Slot? {
    guard let address, isLoopbackBounded || !address.isLoopback,
      !ClientAddress.isTrusted(address, by: trusted)
    else {
      return nil
    }
    let network = address.network
    let count = totals?.addresses.withLock { $0.add(network) } ?? own.add(network)
    return Slot(network: network, isOverLimit: count > connectionsMax, ordinal: count)
  }

  /// Releases a slot. To be called once for each slot.
  mutating func releaseSlot(_ slot: Slot?) {
    guard let slot else { return }
    guard let totals else { return own.subtract(slot.network) }
    totals.addresses.withLock { $0.subtract(slot.network) }
  }

  /// Returns whether a connection is so far over the limit that it is closed without a reason.
  func isFarOverLimit(_ slot: Slot?) -> Bool {
    (slot?.ordinal ?? 0) > connectionsMax + Self.refusedWithReasonMax
  }

  /// The number of connections above the limit that are still read, so that they get a refusal with its reason.
  private static let refusedWithReasonMax = 16

  /// One connection of an address.
  struct Slot {
    let network: IPAddress
    /// True if the address was over its limit when the slot was acquired.
    let isOverLimit: Bool
    fileprivate let ordinal: Int
  }
}
