/// The severity of a line in the transport's log.
public enum TransportLogLevel: Sendable {
  case error, warning, info, debug
}
