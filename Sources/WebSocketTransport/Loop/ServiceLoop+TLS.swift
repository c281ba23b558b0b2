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

  /// The WebSocket is closed. Its last bytes get a little time to reach the client.
  func linger(_ relay: TLSRelay) {
    armDeadline(.relayLinger(relay.number), afterMilliseconds: Self.closeTimeoutMilliseconds)
  }

  func checkLinger(_ relay: TLSRelay) {
    if relay.extendLinger() { linger(relay) }
  }

  /// Reloads the certificate and returns whether it could; an unusable one leaves the previous one in use.
  @discardableResult
  func reloadCertificate() -> Bool {
    guard let files = options.tls else { return false }
    do {
      tls = try TLSContext(files)
      guard isMain else { return true }
      options.log(.info, "the TLS certificate \(files.certificatePath) was reloaded")
      tls?.warnOfAge(options)
      return true
    } catch {
      let why = if case .unusableCertificate(let why) = error { why } else { "\(error)" }
      options.log(.error, "\(why); the previous one stays in use")
      return false
    }
  }
}

extension TLSContext {
  /// Logs a warning if the certificate has expired, or will within a week.
  func warnOfAge(_ options: TransportOptions) {
    guard let secondsLeft, let path = options.tls?.certificatePath, secondsLeft < 7 * 86_400 else {
      return
    }
    let when = secondsLeft < 0 ? "has expired" : "expires in \(secondsLeft / 3_600) hours"
    options.log(.warning, "the TLS certificate \(path) \(when)")
  }
}
