/// Limits on unread output.
///
/// There are three: a limit for each connection, which closes it, and pauses reading from it at half; a limit for all
/// readers of a loop together; and a limit on the time in which a reader reads nothing.
extension ServiceLoop {
  /// Updates the backlog after a change of a reader's unread output.
  func updateBacklog(_ reader: any BacklogReader) {
    backlog.update(reader, atMilliseconds: eventLoop.nowMilliseconds)
    if !backlog.isEmpty { armBacklogCheck() }
  }

  /// The same for a WebSocket connection. Reading from it pauses while much waits for it: a client that requests large
  /// replies and does not read them has to stop requesting.
  func updateBacklog(_ connection: Connection) {
    updateBacklog(connection as any BacklogReader)
    let count = connection.ownByteCount
    if count > options.unsentBytesMax / 2 {
      connection.pauseForBacklog()
    } else if connection.isPausedByBacklog, count <= options.unsentBytesMax / 4 {
      for event in connection.resumeFromBacklog() { emit(event) }
    }
  }

  /// Closes those with the most while more waits than may, and cuts those short that are being closed while they hold
  /// too much beside it; many in one go, so that many slow readers are sorted once and not for each of them.
  func boundBacklog() {
    let most = backlogBytesMax
    guard backlog.byteCount > most || backlog.closingByteCount > most / 4, !isStopping else {
      return
    }
    // The only one of its kind keeps what it was sent: its own bound holds for it.
    if backlog.byteCount > most {
      var remaining = backlog.readers.filter { !$0.backlogEntry.isClosing }[...]
      while backlog.byteCount > most / 16 * 15, remaining.count > 1,
        let reader = remaining.popFirst()
      {
        evict(reader)
      }
    }
    var closing = backlog.readers.filter(\.backlogEntry.isClosing)[...]
    while backlog.closingByteCount > most / 4, closing.count > 1, let reader = closing.popFirst() {
      if let connection = reader as? Connection { abort(connection) }
    }
  }

  private func evict(_ reader: any BacklogReader) {
    let waiting = reader.backlogEntry.byteCount
    count(.unreadBytesTotal)
    switch reader {
    case let connection as Connection:
      (options.peerLog ?? options.log)(
        .info,
        "connection \(connection.id.number) is closed: \(waiting) bytes wait for it, and too many for all readers"
      )
      closeSlowReader(connection, reason: "too many unread bytes")
    case let exchange as HTTPExchange: exchange.abort()
    default: break
    }
  }

  /// Arms the check of slow readers, unless it is armed already.
  func armBacklogCheck() {
    guard !isBacklogCheckArmed else { return }
    isBacklogCheckArmed = true
    armDeadline(.backlogCheck, afterMilliseconds: min(1_000, max(1, stallMilliseconds / 4)))
  }

  private var stallMilliseconds: UInt64 {
    UInt64(min(max(0.01, options.stallSeconds), 1e9) * 1_000)
  }

  /// Closes readers that have made no progress for too long.
  func checkBacklog() {
    isBacklogCheckArmed = false
    // A relay's buffer changes without a notification.
    for relay in relays.values {
      if let connection = relay.connection.flatMap({ connections[$0] }) {
        updateBacklog(connection)
      }
    }
    let now = eventLoop.nowMilliseconds
    for reader in backlog.readers {
      backlog.update(reader, atMilliseconds: now)
      guard reader.backlogEntry.byteCount > 0,
        backlog.idleMilliseconds(of: reader, at: now) >= stallMilliseconds
      else { continue }
      closeStalled(reader)
    }
    if !backlog.isEmpty || !relays.isEmpty { armBacklogCheck() }
  }

  private func closeStalled(_ reader: any BacklogReader) {
    switch reader {
    case let connection as Connection:
      (options.peerLog ?? options.log)(
        .info,
        "connection \(connection.id.number) read nothing for \(options.stallSeconds) s and is dropped"
      )
      count(.stalled)
      abort(connection)
    case let exchange as HTTPExchange:
      count(.slowReader)
      exchange.abort()
    default: break
    }
  }

  /// Ends a connection at once and discards what waits for it.
  private func abort(_ connection: Connection) {
    connection.socket?.relay?.close()
    drop(connection)
  }
}
