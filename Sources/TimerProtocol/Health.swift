import JSONText

/// What `/healthz` answers.
public struct Health: Equatable, Sendable {
  public var faults: [Fault]

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

  public init(faults: [Fault]) {
    self.faults = faults
  }

  public var text: [UInt8] {
    var writer = JSONWriter(capacity: 128)
    writer.object { writer in
      writer.member("status", "ok")
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
