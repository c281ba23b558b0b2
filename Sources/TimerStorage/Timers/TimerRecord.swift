public import Foundation
import JSONText
public import TimerCore

/// A timer as it stands in its file.
public struct TimerRecord: Hashable, Sendable {
  public var timer: SharedTimer
  /// The clocks' readings when it was written.
  public var clock: ClockReading
  /// The last changes that had a name of their own, oldest first.
  public var answered: [IdempotencyRecord]
  /// The last crossings of zero, oldest first, for clients that come back and missed some.
  public var ends: [TimerEnd]

  public init(
    timer: SharedTimer, clock: ClockReading, answered: [IdempotencyRecord] = [],
    ends: [TimerEnd] = []
  ) {
    self.timer = timer
    self.clock = clock
    self.answered = answered
    self.ends = ends
  }

  /// The same on the clock of `now`: every instant moves, so that each keeps its meaning. `later` may contain readings
  /// of a wall clock that was set after this record was written.
  public func moved(to now: ClockReading, by later: [ClockReading] = []) -> TimerRecord {
    let shift = clock.shift(to: now, by: later)
    return TimerRecord(
      timer: timer.shifted(by: shift), clock: now, answered: answered.map { $0.shifted(by: shift) },
      ends: ends.map {
        TimerEnd(at: $0.at + shift, revision: $0.revision, isDelivered: $0.isDelivered)
      })
  }

  /// The version of the shape that is written; all before it can be read.
  public static let version = 1
}

/// A crossing of zero, kept with its timer for clients that were away when it happened.
public struct TimerEnd: Hashable, Sendable {
  /// The zero, on the server clock.
  public var at: Instant
  /// The revision of the state that it made.
  public var revision: Int
  /// True if a client was there to receive it.
  public var isDelivered: Bool

  public init(at: Instant, revision: Int, isDelivered: Bool) {
    self.at = at
    self.revision = revision
    self.isDelivered = isDelivered
  }

  /// The number of a timer's last crossings that are kept.
  public static let kept = 16
}

/// A change that was made under a name, so that it is made once however often it is sent.
public struct IdempotencyRecord: Codable, Hashable, Sendable {
  public let requestId: String
  /// The revision that it made.
  public let revision: Int
  /// When, on the server clock, in seconds since 1970.
  public let at: Double
  /// The request's fingerprint, to detect another request with the same key; nil in a file of an older server.
  public let fingerprint: Int?
  /// The principal: digits of a token's digest, or empty for visitors without one. nil in a file of an older server;
  /// such a record may be anyone's.
  public let principal: String?
  /// The network that a visitor without a token came from, so that one visitor's many requests push out only their own.
  public let network: String?

  public init(
    requestId: String, revision: Int, at: Instant, fingerprint: Int? = nil,
    principal: String? = nil, network: String? = nil
  ) {
    self.requestId = requestId
    self.revision = revision
    self.at = at.sinceEpoch.inSeconds
    self.fingerprint = fingerprint
    self.principal = principal
    self.network = network
  }

  /// The same on a clock that reads `shift` more.
  func shifted(by shift: Seconds) -> IdempotencyRecord {
    IdempotencyRecord(
      requestId: requestId, revision: revision, at: Instant(Seconds(clamping: at)) + shift,
      fingerprint: fingerprint, principal: principal, network: network)
  }
}

/// Why a file holds no timer.
public enum RecordFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The contents are unknown; it may be readable later.
  case unreadable(DiskError)
  /// Empty, cut off, or not the JSON of a timer.
  case malformed(String)
  case newerVersion(Int)
  /// Its parts don't go together.
  case contradiction(String)
  /// Nothing in it shows that it was written for this server.
  case foreign(String)

  /// True if the file may be moved to quarantine and replaced: it was read, and is one of ours.
  public var isDamage: Bool {
    switch self {
    case .malformed, .contradiction: true
    case .unreadable, .newerVersion, .foreign: false
    }
  }

  public var description: String {
    switch self {
    case .unreadable(let error): error.description
    case .malformed(let why): "not the JSON of a timer: \(why)"
    case .newerVersion(let version):
      "written by a newer version (\(version), known are up to \(TimerRecord.version))"
    case .contradiction(let why): why
    case .foreign(let why): "not a file of this server: \(why)"
    }
  }
}

// MARK: - Bytes

extension TimerRecord {
  /// The contents of its file, for people to read too.
  public func contents() -> Data {
    var writer = JSONWriter(capacity: 1024, lineDepth: 3)
    writer.object { write(to: &$0) }
    return Data(writer.bytes)
  }

  /// Parses a file's contents; `id` is the timer of the file's name.
  public init(contents: Data, id: TimerID) throws(RecordFault) {
    guard !contents.isEmpty else { throw .malformed("the file is empty") }
    let file: TimerFileContents
    do {
      file = try JSONDecoder().decode(TimerFileContents.self, from: contents)
    } catch {
      // A newer version may have another shape, so its number is looked for by itself.
      let version = try? JSONDecoder().decode(TimerFileVersion.self, from: contents).version
      if let version, version > Self.version { throw .newerVersion(version) }
      throw error as? RecordFault ?? .malformed(Self.words(error))
    }
    let version = file.timer.version
    guard version <= Self.version else { throw .newerVersion(version) }
    guard version >= 1 else { throw .contradiction("version \(version)") }
    self = try file.timer.record(id: id, file.settings)
  }

  private static func words(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, _): return "\"\(key.stringValue)\" is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return
        "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has the wrong type"
    case .dataCorrupted(let context):
      let inner = (context.underlyingError as? NSError)?.userInfo["NSDebugDescription"] as? String
      return inner ?? context.debugDescription
    @unknown default: return "\(error)"
    }
  }
}
