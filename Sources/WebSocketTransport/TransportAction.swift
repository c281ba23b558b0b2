/// The server's requests to the transport, carried out in order, on the loop's thread, right after the event.
public enum TransportAction: Sendable, Equatable {
  /// Sends one text message to one connection; a message to an unknown or closing one is dropped.
  case send(Frame, to: ConnectionID)
  /// Sends one text message to every member of a group: built once, sent to all.
  case broadcast(Frame, to: GroupID)
  /// Makes a connection a member of a group; a group exists while it has members.
  case join(ConnectionID, GroupID)
  /// Ends a membership; a closed connection has left all its groups by itself.
  case leave(ConnectionID, GroupID)
  /// Sends what is queued, then a close frame, and gives up on the peer's answer after a second, or at the
  /// end of the drain.
  case close(ConnectionID, CloseCode, reason: String)
  /// Stops reading from a connection, so that TCP slows its peer down. What has been read already is still delivered.
  case pauseReading(ConnectionID)
  /// Reads from a connection again.
  case resumeReading(ConnectionID)
  /// Answers an HTTP request.
  case respond(HTTPResponse, to: HTTPRequestID)
  /// Asks for one `TransportEvent.deadline` this many microseconds after the event that it answers was handed
  /// over (0: at once), however long the actions before it take, instead of the one asked for before; nil
  /// asks for none.
  case setDeadline(afterMicroseconds: Int64?)
  /// Stops listening, closes every connection with 1001 once its queue is sent, answers what HTTP is
  /// left with 503, and makes `run` return when all are gone or `TransportOptions.drainSeconds` are over.
  case stop

  var isBroadcast: Bool {
    if case .broadcast = self { true } else { false }
  }
}
