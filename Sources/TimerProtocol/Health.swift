import JSONText

/// What `/healthz` answers.
public struct Health: Equatable, Sendable {
  public var faults: [Fault]
  /// Why changes are not stored; nil: they are.
  public var trouble: String?

  /// A file of the data folder that holds no timer.
  public struct Fault: Equatable, Sendable {
    public var file: String
    public var reason: String
    /// Where it was put aside; nil where it was left.
    public var movedTo: String?

    public init(file: String, reason: String, movedTo: String? = nil) {
      self.file = file
      self.reason = reason
      self.movedTo = movedTo
    }
  }

  public init(faults: [Fault], trouble: String? = nil) {
    self.faults = faults
    self.trouble = trouble
  }

  /// What `/readyz` answers while changes are not stored.
  public static func unwritable(_ trouble: String) -> [UInt8] {
    var writer = JSONWriter(capacity: 128)
    writer.object {
      $0.member("status", "unwritable")
      $0.member("reason", trouble)
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
    }
    return writer.bytes
  }
}
