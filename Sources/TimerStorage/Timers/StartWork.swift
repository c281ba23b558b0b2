import Foundation

/// The work of a start that is left once everything is read.
struct StartWork {
  let rollback: StartRollback
  /// Why it could not be done yet; nil before the first try.
  var error: DiskError?
  /// A damaged log, to be kept beside.
  var damagedLog: Data?
  /// The folder's history begins here.
  var writesHistory = false
  /// True if unknown revisions may have been issued.
  var skipsRevisions = false
  /// True if the server's record was recomputed.
  var writesServer = false
  /// Damaged files to be moved to quarantine.
  var damaged: [FileName] = []
  var faults: [FileFault] = []
  var remarks: [String] = []
}
