import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// A disk that refuses changes, and files that are in the way.
extension Hub {
  /// Updates whether changes can be stored; nil means that they can.
  mutating func updateStorage(
    _ trouble: StorageTrouble?, _ turn: inout Turn
  ) {
    storageTrouble = trouble?.reason
    storageLog.update(trouble)
    logStorageIfDue(&turn)
  }

  /// Logs a change of the disk's state if it is due. Called each second.
  mutating func logStorageIfDue(_ turn: inout Turn) {
    switch storageLog.popLine(at: turn.now) {
    case .trouble(let trouble):
      turn.actions.log(.error, "changes can't be stored and are refused: \(trouble)")
    case .end: turn.actions.log(.info, "changes are stored again")
    case nil: break
    }
    switch filesLog.popLine(at: turn.now) {
    case .trouble(let errors):
      for error in errors.prefix(Self.fileErrorsLoggedMax) {
        turn.actions.log(.error, "a timer's file is behind: \(error)")
      }
      let more = errors.count - Self.fileErrorsLoggedMax
      if more > 0 { turn.actions.log(.error, "the files of \(more) more timers are behind") }
    case .end: turn.actions.log(.info, "every timer's file is up to date again")
    case nil: break
    }
  }

  private static let fileErrorsLoggedMax = 20

  /// Why a timer can't be changed: a file that is not ours to replace is in the place of its own.
  func obstacle(to id: TimerID) -> ErrorReply? {
    switch quarantine.obstacle(to: id) {
    case nil, .malformed, .contradiction: nil
    case .unreadable(let error):
      ErrorReply(
        .storageFailed,
        "the file of this timer can't be read (\(error.reason)), and is not overwritten")
    case .newerVersion(let version):
      ErrorReply(
        .storageFailed,
        "the file of this timer was written by a newer version (\(version)), and is not overwritten"
      )
    case .foreign:
      ErrorReply(
        .storageFailed,
        "a file of another program has the name of this timer's, and is not overwritten; take another name, or move it "
          + "away")
    }
  }
}

extension StoreFault {
  /// The fault as a line of the log.
  var line: String { "\(place) was not loaded: \(fault)\(whereabouts)" }

  /// Where the file is now, as the end of the line.
  var whereabouts: String {
    movedTo.map { "; it was moved to \($0)" } ?? (fault.isDamage ? "" : "; it was left in place")
  }
}
