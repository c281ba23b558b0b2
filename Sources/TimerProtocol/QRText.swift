import TimerCore

/// The text of a QR code: 1 to 1024 bytes of UTF-8 without a control character.
public struct QRText: Equatable, Sendable {
  public let text: String

  /// nil when the text breaks one of the rules above.
  public init?(_ text: String) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
    guard !text.unicodeScalars.contains(where: \.isControl) else { return nil }
    self.text = text
  }

  /// The most bytes that it may have.
  public static let bytesMax = 1_024

  /// Reads a body such as `{"text":"https://timer.example/?timer=tea"}`.
  public init(body: [UInt8]) throws(ErrorReply) {
    let object = try ClientMessage.object(body)
    if let member = object.members.first(where: { !$0.name.isSpelled("text") }) {
      throw .badRequest("a QR code has no field \(quoted(member.name)); its field is: text")
    }
    guard case .string(let words)? = object["text"], let text = QRText(words) else {
      throw .badRequest(
        "\"text\" has to be 1 to \(Self.bytesMax) bytes of UTF-8 without control characters")
    }
    self = text
  }
}
