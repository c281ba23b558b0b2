/// A line of text for the speaker, shown by the timer's displays until it is cleared.
public struct SpeakerMessage: Hashable, Sendable {
  public let text: SpeakerText
  public let sentAt: Instant

  public init(_ text: SpeakerText, sentAt: Instant) {
    self.text = text
    self.sentAt = sentAt
  }
}

/// Words of such a line: 1 to 500 bytes of UTF-8, in lines, without other control characters.
public struct SpeakerText: Hashable, Sendable {
  public let text: String

  /// nil when the text breaks one of the rules above.
  public init?(_ text: String) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
    guard !text.unicodeScalars.contains(where: { $0 != "\n" && $0.isControl }) else { return nil }
    self.text = text
  }

  /// The most bytes that it may have.
  public static let bytesMax = 500

  /// The rule, for error messages.
  public static let rule =
    "at most \(bytesMax) bytes of UTF-8 without control characters other than line feeds"
}
