/// Identifies a set of connections that receive the same broadcasts.
public struct GroupID: Hashable, Sendable {
  public let number: UInt64

  public init(_ number: UInt64) {
    self.number = number
  }
}
