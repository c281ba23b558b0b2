import TimerServer

/// The options of `timersync serve` about TLS, proxies, and what of the network is too much.
struct NetworkOptions {
  private(set) var settings = NetworkSettings()

  static let names = [
    "--tls-cert", "--tls-key", "--trusted-proxy", "--connections-per-address", "--http-connections",
    "--handshake-seconds", "--message-bytes", "--header-bytes", "--unread-bytes",
    "--unread-bytes-total", "--threads", "--drain",
  ]

  /// Takes an option; false when it is none of these.
  mutating func apply(_ name: String, _ value: String) throws(UsageError) -> Bool {
    switch name {
    case "--tls-cert": settings.certificatePath = value
    case "--tls-key": settings.keyPath = value
    case "--trusted-proxy":
      guard settings.trust(value) else {
        throw UsageError(
          "--trusted-proxy has to be a numeric address or a range as in 10.0.0.0/8 (with no bit set beyond "
            + "its length), not '\(value)'")
      }
    case "--connections-per-address":
      settings.connectionsPerAddressMax = try Self.number(name, value, 1...1_000_000)
    case "--http-connections":
      settings.httpConnectionsMax = try Self.number(name, value, 1...1_000_000)
    case "--handshake-seconds":
      settings.handshakeSeconds = try Self.number(name, value, 1...3_600)
    case "--message-bytes":
      settings.messageBytesMax = try Self.number(name, value, 1_024...16_777_216)
    case "--header-bytes":
      settings.headBytesMax = try Self.number(name, value, 1_024...1_048_576)
    case "--unread-bytes":
      settings.unreadBytesMax = try Self.number(name, value, 16_384...1_073_741_824)
    case "--unread-bytes-total":
      settings.unreadBytesTotalMax = try Self.number(name, value, 1_048_576...1_099_511_627_776)
    case "--drain": settings.drainSeconds = try Self.number(name, value, 0...3_600)
    case "--threads": settings.loopCount = try Self.number(name, value, 1...64)
    default: return false
    }
    return true
  }

  /// TLS wants both of its files.
  func check() throws(UsageError) {
    guard (settings.certificatePath == nil) == (settings.keyPath == nil) else {
      throw UsageError("--tls-cert and --tls-key go together: a certificate, and the key of it")
    }
  }

  private static func number(
    _ name: String, _ value: String, _ range: ClosedRange<Int>
  ) throws(UsageError) -> Int {
    guard let number = Int(value), range.contains(number) else {
      throw UsageError(
        "\(name) has to be \(range.lowerBound) to \(range.upperBound), not '\(value)'")
    }
    return number
  }
}
