import JSONText

/// The `id` of a request, ready to be sent in its reply.
public struct ReplyTag: Hashable, Sendable {
  /// One JSON token.
  let token: [UInt8]

  /// A request that gave none.
  public static let none = ReplyTag(token: Array("null".utf8))

  init(token: [UInt8]) {
    self.token = token
  }

  /// nil when the value is neither a string nor a number, nor null, which stands for none.
  init?(_ value: JSONValue) {
    switch value {
    case .string(let text):
      var writer = JSONWriter(capacity: text.utf8.count + 2)
      writer.value(text)
      token = writer.bytes
    case .number(let number): token = Array(number.spelling.utf8)
    case .null: self = .none
    case .bool, .array, .object: return nil
    }
  }
}
