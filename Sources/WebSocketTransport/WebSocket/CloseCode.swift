/// RFC 6455 §7.4.1, those that this server sends.
public enum CloseCode: UInt16, Sendable, Equatable {
  case goingAway = 1001
  case unsupportedData = 1003
  case invalidPayload = 1007
  case policyViolation = 1008
  case messageTooBig = 1009
  /// IANA's registry of close codes: the service restarts, and the client may reconnect.
  case serviceRestart = 1012
  case tryAgainLater = 1013
}
