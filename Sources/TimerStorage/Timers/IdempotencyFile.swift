import Foundation
package import TimerCore

/// A change that was made under a name of its own, wherever its timer has gone since.
public struct IdempotencyEntry: Codable, Hashable, Sendable {
  /// Empty where the request changed no timer.
  public let timer: String
  public let requestId: String
  /// The revision that it made.
  public internal(set) var revision: Int
  /// When, on the server clock, in seconds since 1970.
  public var at: Double
  /// True if the change removed the timer.
  public let removed: Bool
  /// The request's fingerprint; nil in a file of an older server.
  public let fingerprint: Int?
  /// As in `IdempotencyRecord`.
  public let principal: String?
  /// As in `IdempotencyRecord`.
  public let network: String?
}

extension IdempotencyEntry {
  /// The owner of a share of the file: a token, or one network's visitors.
  fileprivate var owner: String {
    principal.map { $0.isEmpty ? "network " + (network ?? "") : $0 } ?? ""
  }
}

extension IdempotencyRecord {
  /// How long an idempotency key is remembered.
  package static let retention: Seconds = 600
}

/// The named changes of the last ten minutes, over all timers.
///
/// While changes are in the log, the log has them; before it is emptied they are written to a file.
struct IdempotencyFile {
  private(set) var requests: [IdempotencyEntry] = []
  private(set) var isDirty = false

  static let fileName = FileName(".requests")
  private static let requestsMax = 8192

  mutating func record(_ write: StoredChange) {
    for (id, record) in write.timers {
      if let record {
        self.record(record)
      } else if let server = write.server {
        self.record(removalOf: id, in: server)
      }
    }
    if let server = write.server { record(unchangedIn: server) }
  }

  /// Requests that were accepted and found nothing to change.
  mutating func record(unchangedIn server: ServerRecord, shift: Seconds = .zero) {
    for request in server.unchanged ?? [] { add(request, of: "", removed: false, shift: shift) }
  }

  mutating func record(removalOf id: TimerID, in server: ServerRecord, shift: Seconds = .zero) {
    let removal = server.removals.last { $0.timer.utf8.elementsEqual(id.name.utf8) }
    if let removal { add(removal.request, of: id.name, removed: true, shift: shift) }
  }

  /// The change that made a record as it is, if that had a name.
  mutating func record(_ record: TimerRecord, shift: Seconds = .zero) {
    guard let last = record.answered.last, last.revision == record.timer.revision else { return }
    add(last, of: record.timer.id.name, removed: false, shift: shift)
  }

  private mutating func add(
    _ request: IdempotencyRecord, of timer: String, removed: Bool, shift: Seconds = .zero
  ) {
    requests.append(
      IdempotencyEntry(
        timer: timer, requestId: request.requestId, revision: request.revision,
        at: request.at + shift.inSeconds, removed: removed, fingerprint: request.fingerprint,
        principal: request.principal, network: request.network))
    isDirty = true
    if requests.count > 2 * Self.requestsMax { prune() }
  }

  private mutating func prune() {
    let oldest = (requests.map(\.at).max() ?? 0) - IdempotencyRecord.retention.inSeconds
    requests = FairShare.newest(
      of: requests.filter { $0.at >= oldest }, atMost: Self.requestsMax, by: \.owner)
  }

  // MARK: The file

  static let version = 1

  private struct File: Codable {
    /// nil where it was written before there was one, which is 1.
    var version: Int? = IdempotencyFile.version
    let clock: ClockReading
    let requests: [IdempotencyEntry]
  }

  /// Restores the entries of an earlier process, on the clock of this one.
  mutating func restore(
    _ contents: Data, on clock: ClockReading, by later: [ClockReading] = []
  ) throws {
    let file = try JSONDecoder().decode(File.self, from: contents)
    let shift = file.clock.shift(to: clock, by: later).inSeconds
    requests += file.requests.map { request in
      var shifted = request
      shifted.at += shift
      // No server counts that far: it was written by hand.
      if !(0...TimerLimits.revisionMax / 2 ~= request.revision) { shifted.revision = 0 }
      return shifted
    }
  }

  /// The file's next contents; the entries count as saved from here on.
  mutating func contents(on clock: ClockReading) -> Data {
    prune()
    isDirty = false
    do { return try JSONEncoder().encode(File(clock: clock, requests: requests)) } catch {
      preconditionFailure("names and numbers can always be encoded: \(error)")
    }
  }
}
