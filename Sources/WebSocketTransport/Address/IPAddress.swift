import CLibuv

/// A numeric IPv4 or IPv6 address. An IPv4 one that is written or came as IPv6 is the IPv4 one.
public struct IPAddress: Hashable, Sendable {
  /// The 16 bytes of the address, as two words; IPv4 as IPv6 maps it.
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// nil when it is anything else, a name for example.
  public init?(_ text: String) {
    // A string with a NUL in it would be read up to that.
    guard !text.utf8.contains(0) else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    // The 16 bytes are lent for the call, which reads a terminated string.
    let isParsed = unsafe withUnsafeMutableBytes(of: &words) { bytes in
      unsafe shim_parse_address(text, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)) != 0
    }
    guard isParsed else { return nil }
    (high, low) = (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
  }

  var isV4: Bool { high == 0 && low >> 32 == 0xffff }

  /// 127.0.0.0/8 and ::1.
  var isLoopback: Bool { isV4 ? low >> 24 == 0xffff_7f : high == 0 && low == 1 }

  /// All addresses that belong to one client: a single IPv4 address, or the 2^64 of an IPv6 network.
  var network: IPAddress { isV4 ? self : IPAddress(high: high, low: 0) }

  /// As it is usually written.
  public var text: String {
    var words = (high.bigEndian, low.bigEndian)
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let start = text.baseAddress else { return "" }
      // Writes a terminated string of at most 46 bytes into this temporary.
      unsafe withUnsafeBytes(of: &words) { bytes in
        unsafe shim_write_address(
          bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), isV4 ? 1 : 0, start, text.count)
      }
      return unsafe String(cString: start)
    }
  }
}

extension IPAddress {
  /// The text of an address' network; any text that is no address is returned as it is.
  static func networkText(of address: String) -> String {
    IPAddress(address)?.network.text ?? address
  }
}
