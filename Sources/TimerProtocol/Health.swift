import JSONText
public import TimerCore

/// The response of `/healthz`.
public struct Health: Equatable, Sendable {
  public var faults: [Fault]
  public var clock: Clock

  /// The wall clock in relation to the server clock.
  public struct Clock: Equatable, Sendable {
    /// The wall clock minus the server clock.
    public var wallOffset: Seconds
    /// The number of its changes since the start.
    public var steps: Int

    public init(wallOffset: Seconds = .zero, steps: Int = 0) {
      self.wallOffset = wallOffset
      self.steps = steps
    }
  }
  /// Why changes are not stored; nil: they are.
  public var trouble: String?

  /// A file of the data folder that holds no timer.
  public struct Fault: Equatable, Sendable {
    public var file: String
    public var reason: String
    /// The path in quarantine; nil if the file was left in place.
    public var movedTo: String?

    public init(file: String, reason: String, movedTo: String? = nil) {
      self.file = file
      self.reason = reason
      self.movedTo = movedTo
    }
  }

  public init(faults: [Fault], trouble: String? = nil, clock: Clock) {
    self.faults = faults
    self.trouble = trouble
    self.clock = clock
  }

  /// The response of `/healthz` without details.
  public static let bare = Array("{\"status\":\"ok\"}".utf8)

  /// The response of `/readyz` while changes are not stored; nil leaves the reason out.
  public static func unwritable(_ trouble: String?) -> [UInt8] {
    var writer = JSONWriter(capacity: 128)
    writer.object {
      $0.member("status", "unwritable")
      if let trouble { $0.member("reason", trouble) }
    }
    return writer.bytes
  }

  public var text: [UInt8] {
    var writer = JSONWriter(capacity: 128)
    writer.object { writer in
      writer.member("status", "ok")
      if let trouble {
        writer.member("writable", false)
        writer.member("reason", trouble)
      }
      writer.array("faults", faults) { writer, fault in
        writer.object {
          $0.member("file", fault.file)
          $0.member("reason", fault.reason)
          if let path = fault.movedTo { $0.member("movedTo", path) }
        }
      }
      writer.member("clock") {
        $0.member("wallOffset", clock.wallOffset)
        $0.member("steps", clock.steps)
      }
    }
    return writer.bytes
  }
}
