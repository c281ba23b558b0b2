extension ServiceLoop {
  /// The number of attempts to find a free port that is free on every address.
  private static let portChoicesMax = 8

  /// Listens on each address, at one port.
  static func listeners(
    _ loop: EventLoop, _ options: TransportOptions, _ place: LoopPlace
  ) throws(TransportError) -> [TCPListener] {
    var choicesLeft = options.port == 0 ? portChoicesMax : 1
    while true {
      choicesLeft -= 1
      do {
        return try listenersOnce(loop, options, place)
      } catch {
        guard case .addressInUse = error, choicesLeft > 0 else { throw error }
      }
    }
  }

  private static func listenersOnce(
    _ loop: EventLoop, _ options: TransportOptions, _ place: LoopPlace
  ) throws(TransportError) -> [TCPListener] {
    let addresses = ListenAddresses(options.addresses)
    var listeners: [TCPListener] = []
    for entry in addresses.entries {
      do {
        listeners.append(
          try TCPListener(
            loop, address: entry.text, port: listeners.first?.port ?? options.port,
            isV6Only: addresses.isV6Only, sendBufferBytes: sendBufferBytes, place.portSharing))
      } catch {
        guard entry.isOptional, case .addressNotAvailable = error else { throw error }
        if place.isMain {
          options.log(.info, "this machine has no IPv6, so localhost is 127.0.0.1 only")
        }
      }
    }
    guard !listeners.isEmpty else { throw .failed("no address to listen on") }
    return listeners
  }
}
