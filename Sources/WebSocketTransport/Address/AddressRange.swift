/// One address, or all that begin with the same bits: `192.0.2.1`, `10.0.0.0/8`, `fd00::/8`.
public struct AddressRange: Sendable, Equatable {
  private let high: UInt64
  private let low: UInt64
  private let highMask: UInt64
  private let lowMask: UInt64

  /// nil when it is no numeric address, has no length that fits its kind, or has bits set beyond that.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = IPAddress(String(parts[0])) else { return nil }
    let widest = address.isV4 && !parts[0].contains(":") ? 32 : 128
    var length = widest
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let given = Int(parts[1]),
        given <= widest
      else { return nil }
      length = given
    }
    length += 128 - widest
    highMask = Self.mask(min(64, length))
    lowMask = Self.mask(max(0, length - 64))
    high = address.high
    low = address.low
    guard high & ~highMask == 0, low & ~lowMask == 0 else { return nil }
  }

  private static func mask(_ length: Int) -> UInt64 { length == 0 ? 0 : ~0 << (64 - length) }

  func contains(_ address: IPAddress) -> Bool {
    address.high & highMask == high && address.low & lowMask == low
  }
}
