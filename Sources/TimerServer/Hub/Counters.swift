import TimerProtocol

/// Counts for the metrics.
struct Counters: Equatable {
  var messagesReceived = 0
  var changesMade = 0
  var refusals: [ErrorCode: Int] = [:]
  var broadcasts = 0
  var connectionsOpened = 0
  var wrongTokens = 0
  var closedConnections: [CloseReason: Int] = [:]
  var readingPauses = 0
  var clockSteps = 0
}
