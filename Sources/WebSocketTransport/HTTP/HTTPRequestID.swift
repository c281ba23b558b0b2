/// The identity of one HTTP request that waits for its answer; unique in the life of the process.
public struct HTTPRequestID: Hashable, Sendable {
  public let number: UInt64

  public init(_ number: UInt64) {
    self.number = number
  }
}
