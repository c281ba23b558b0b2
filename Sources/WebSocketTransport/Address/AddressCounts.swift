import Synchronization

/// How many connections each address has; those that are not bounded are not counted.
struct AddressCounts {
  private var own = AddressTally()
  /// Counts instead, where there are several loops.
  private let census: LoopCensus?
  private let connectionsMax: Int
  private let isLoopbackBounded: Bool
  private let trusted: [AddressRange]

  init(_ options: TransportOptions, _ census: LoopCensus? = nil) {
    self.census = census
    connectionsMax = max(1, options.connectionsPerAddressMax)
    isLoopbackBounded = options.isLoopbackBounded
    trusted = options.trustedProxies
  }

  /// Takes a place for a connection; nil when it needs none.
  mutating func acquireSlot(for address: IPAddress?) -> Slot? {
    guard let address, isLoopbackBounded || !address.isLoopback,
      !ClientAddress.isTrusted(address, by: trusted)
    else {
      return nil
    }
    let network = address.network
    let count = census?.addresses.withLock { $0.add(network) } ?? own.add(network)
    return Slot(network: network, isOverLimit: count > connectionsMax, ordinal: count)
  }

  /// Gives a place back, once.
  mutating func releaseSlot(_ slot: Slot?) {
    guard let slot else { return }
    guard let census else { return own.subtract(slot.network) }
    census.addresses.withLock { $0.subtract(slot.network) }
  }

  /// Whether this one is not even to be told that it is one too many.
  func isFarOverLimit(_ slot: Slot?) -> Bool {
    (slot?.ordinal ?? 0) > connectionsMax + Self.refusedWithReasonMax
  }

  /// How many above the bound are read, so that they can be told.
  private static let refusedWithReasonMax = 16

  /// One connection of an address.
  struct Slot {
    let network: IPAddress
    /// Whether it was over the bound when it was taken.
    let isOverLimit: Bool
    fileprivate let ordinal: Int
  }
}
