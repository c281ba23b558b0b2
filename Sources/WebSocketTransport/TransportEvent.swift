/// Events of the network, the mailboxes and the clock, delivered one at a time, on the loop's thread.
public enum TransportEvent: Sendable {
  /// A WebSocket handshake was accepted; nothing else about this connection came before it.
  case opened(ConnectionID, Handshake)
  /// One whole text message, valid UTF-8 and within the size limit.
  case received(ConnectionID, [UInt8])
  /// One whole binary message; only with `TransportOptions.acceptsBinary`.
  case receivedBinary(ConnectionID, [UInt8])
  /// The connection is gone, for whatever reason; its identity never comes back.
  case closed(ConnectionID)
  /// A whole HTTP request for a path under one of `TransportOptions.servicePaths`; owes one `respond`.
  case requested(HTTPRequestID, HTTPRequest)
  /// The instant asked for by `TransportAction.setDeadline` has come.
  case deadline
  /// A mailbox that this loop listens to has messages.
  case woken
  /// SIGINT or SIGTERM, or `LoopGroup.stop()`.
  case stopRequested
  /// SIGHUP; the certificate has been reloaded.
  case reloadRequested
}
