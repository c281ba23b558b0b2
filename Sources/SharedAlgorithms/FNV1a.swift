/// A hash of 64 bits that is the same in every process: FNV-1a.
///
/// It detects changes and damage. It is no protection against forgery.
public struct FNV1a {
  /// The hash of the bytes so far.
  public var value: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Creates the hash of no bytes.
  @inlinable public init() {}

  /// The hash of these bytes.
  @inlinable public init(_ bytes: some Sequence<UInt8>) {
    combine(bytes)
  }

  /// Adds a byte behind those before.
  @inlinable public mutating func combine(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  /// Adds bytes behind those before.
  @inlinable public mutating func combine(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { combine(byte) }
  }
}
