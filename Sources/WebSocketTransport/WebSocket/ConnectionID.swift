/// The identity of one WebSocket connection; unique in the life of the process.
public struct ConnectionID: Hashable, Sendable {
  public let number: UInt64

  public init(_ number: UInt64) {
    self.number = number
  }
}
