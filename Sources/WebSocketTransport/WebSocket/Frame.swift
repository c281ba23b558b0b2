/// The bytes of one message, or of several that go out together, and what they may replace.
public struct Frame: Sendable, Equatable {
  /// UTF-8, unless it is binary.
  public let text: [UInt8]
  /// Further messages right behind it. They are queued, replaced and counted with it, so that no reader gets parts of
  /// two states.
  public let additional: [[UInt8]]
  /// When this frame meets an unsent one with the same key in a connection's queue, the older one is
  /// dropped and this one takes its place at the end. nil: it is never dropped and drops nothing.
  public let replacementKey: UInt64?

  /// True if the frame is sent as a binary message.
  public let isBinary: Bool

  /// Payload bytes of all of its messages.
  public var byteCount: Int { additional.reduce(text.count) { $0 + $1.count } }

  public init(
    _ text: [UInt8], additional: [[UInt8]] = [], replacementKey: UInt64? = nil,
    isBinary: Bool = false
  ) {
    self.text = text
    self.additional = additional
    self.replacementKey = replacementKey
    self.isBinary = isBinary
  }
}
