/// A signal for the speaker, given by the timer's displays.
public struct SpeakerSignal: Hashable, Sendable {
  public let kind: Kind
  public let sentAt: Instant

  public init(_ kind: Kind, sentAt: Instant) {
    self.kind = kind
    self.sentAt = sentAt
  }

  public enum Kind: String, CaseIterable, Codable, Hashable, Sendable {
    /// Displays flash for three seconds from `sentAt`.
    case flash
    /// Displays stay dark until the signal is taken back.
    case blackout
  }
}
