extension ServiceLoop {
  /// Puts a relay between a client and libwebsockets; nil when there are no descriptors left.
  func relay(_ stream: TLSStream, number: UInt64) -> (relay: TLSRelay, descriptor: CInt)? {
    let made = TLSRelay.make(eventLoop, stream, number: number) { [weak self] relay in
      // Not any more when the loop itself goes.
      self?.relays[relay.number] = nil
    }
    guard let made else { return nil }
    relays[number] = made.relay
    armBacklogCheck()
    return made
  }

  /// The WebSocket is over: what it said last has a little time to reach the client.
  func linger(_ relay: TLSRelay) {
    armDeadline(.relayLinger(relay.number), afterMilliseconds: Self.closeTimeoutMilliseconds)
  }

  func checkLinger(_ relay: TLSRelay) {
    if relay.extendLinger() { linger(relay) }
  }

  /// Reads the certificate anew, and answers whether it did; one that can't be used leaves the old one in
  /// its place.
  @discardableResult
  func reloadCertificate() -> Bool {
    guard let files = options.tls else { return false }
    do {
      tls = try TLSContext(files)
      guard isMain else { return true }
      options.log(.info, "the TLS certificate \(files.certificatePath) is read anew")
      tls?.warnOfAge(options)
      return true
    } catch {
      let why = if case .unusableCertificate(let why) = error { why } else { "\(error)" }
      options.log(.error, "\(why); the one read before stays in use")
      return false
    }
  }
}

extension TLSContext {
  /// Says so when the certificate is out of date, or nearly.
  func warnOfAge(_ options: TransportOptions) {
    guard let secondsLeft, let path = options.tls?.certificatePath, secondsLeft < 7 * 86_400 else {
      return
    }
    let when = secondsLeft < 0 ? "is out of date" : "ends in \(secondsLeft / 3_600) hours"
    options.log(.warning, "the TLS certificate \(path) \(when)")
  }
}
