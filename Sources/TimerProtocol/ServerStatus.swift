public import TimerCore

/// The server's status, sent in `hello`, and to every connection when it changes.
public struct ServerStatus: Equatable, Sendable {
  /// The wall clock minus the server clock.
  public var wallOffset: Seconds
  /// Why no change is taken, in words without paths; nil while changes are taken.
  public var reason: String?

  public init(wallOffset: Seconds = .zero, reason: String? = nil) {
    self.wallOffset = wallOffset
    self.reason = reason
  }

  /// True if changes are accepted.
  public var isWritable: Bool { reason == nil }
}
