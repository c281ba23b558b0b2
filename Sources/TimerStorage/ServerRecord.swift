import Foundation
public import TimerCore

/// What the server remembers beside its timers.
public struct ServerRecord: Codable, Hashable, Sendable {
  /// Of the file's shape; nil where it was written before there was one, which is 1.
  public var version: Int?
  /// No revision above this one was ever given.
  public var revisionCeiling: Int
  /// The removal that this was written with, if it had a name of its own: its timer has no file to keep it. The
  /// register takes it from here.
  public var removals: [Removal]
  /// What the clocks said when it was written.
  public var clock: ClockReading?

  /// A removal that was answered.
  public struct Removal: Codable, Hashable, Sendable {
    public let timer: String
    public let request: AnsweredRequest

    public init(timer: TimerID, request: AnsweredRequest) {
      self.timer = timer.name
      self.request = request
    }
  }

  public init(
    revisionCeiling: Int = 0, removals: [Removal] = [], clock: ClockReading? = nil
  ) {
    version = Self.currentVersion
    self.revisionCeiling = revisionCeiling
    self.removals = removals
    self.clock = clock
  }

  static let fileName = FileName(".server")
  static let currentVersion = 1

  /// Reads the file's contents.
  init(contents: Data) throws(RecordFault) {
    do { self = try JSONDecoder().decode(ServerRecord.self, from: contents) } catch {
      throw .malformed("\(error)")
    }
    guard 0...TimerLimits.revisionMax ~= revisionCeiling else {
      throw .contradiction("a revision that is not 0 to \(TimerLimits.revisionMax)")
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
