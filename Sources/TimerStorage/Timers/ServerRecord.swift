import Foundation
public import TimerCore

/// The server's own record, beside its timers.
public struct ServerRecord: Codable, Hashable, Sendable {
  /// The version of the file's format; nil in files from before it was written, which are of version 1.
  public var version: Int?
  /// No revision above this one was ever given.
  public var revisionCeiling: Int
  /// The removal that this was written with, if that had an idempotency key: its timer has no file to keep the key.
  /// `IdempotencyFile` takes it from here.
  public var removals: [Removal]
  /// The request that this was written with, if it changed no timer; nil where there is none.
  public var unchanged: [IdempotencyRecord]?
  /// The clocks' readings when it was written.
  public var clock: ClockReading?
  /// The last readings of earlier starts of the machine that files may still refer to, oldest first.
  public var earlierClocks: [ClockReading]?

  /// A removal that was answered.
  public struct Removal: Codable, Hashable, Sendable {
    public let timer: String
    public let request: IdempotencyRecord

    public init(timer: TimerID, request: IdempotencyRecord) {
      self.timer = timer.name
      self.request = request
    }

    fileprivate init(timer: String, request: IdempotencyRecord) {
      self.timer = timer
      self.request = request
    }
  }

  public init(
    revisionCeiling: Int = 0, removals: [Removal] = [], unchanged: [IdempotencyRecord] = [],
    clock: ClockReading? = nil
  ) {
    version = Self.currentVersion
    self.revisionCeiling = revisionCeiling
    self.removals = removals
    self.unchanged = unchanged.isEmpty ? nil : unchanged
    self.clock = clock
  }

  /// The last reading of each start of the machine that is known, oldest first.
  public var lastClocks: [ClockReading] {
    (earlierClocks ?? []) + [clock].compactMap(\.self)
  }

  /// The same on the clock of `now`.
  func moved(to now: ClockReading) -> ServerRecord {
    guard let clock else { return self }
    let shift = clock.shift(to: now)
    var moved = self
    moved.clock = now
    moved.removals = removals.map {
      Removal(timer: $0.timer, request: $0.request.shifted(by: shift))
    }
    moved.unchanged = unchanged?.map { $0.shifted(by: shift) }
    return moved
  }

  static let fileName = FileName(".server")
  static let currentVersion = 1

  /// Reads the file's contents.
  init(contents: Data) throws(RecordFault) {
    do { self = try JSONDecoder().decode(ServerRecord.self, from: contents) } catch {
      throw .malformed("\(error)")
    }
    // No server counts that far, and one that continues from here must never reach the end.
    let revisionMax = TimerLimits.revisionMax / 2
    guard 0...revisionMax ~= revisionCeiling else {
      throw .contradiction("a revision that is not 0 to \(revisionMax)")
    }
  }

  func contents() -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do { return try encoder.encode(self) } catch {
      preconditionFailure("numbers and names can always be encoded: \(error)")
    }
  }
}
