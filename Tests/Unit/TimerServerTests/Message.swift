import Foundation

/// A message of the server, as a client reads it.
struct Message: CustomStringConvertible {
  private let object: [String: Any]
  /// The key of a message that a newer one may replace.
  let frameKey: UInt64?

  init(_ text: [UInt8], frameKey: UInt64? = nil) {
    let value = try? JSONSerialization.jsonObject(with: Data(text))
    guard let object = value as? [String: Any] else {
      preconditionFailure(
        "the server sends JSON objects, not \(String(decoding: text, as: UTF8.self))")
    }
    self.object = object
    self.frameKey = frameKey
  }

  private init(_ object: [String: Any]) {
    self.object = object
    frameKey = nil
  }

  /// A message that never came.
  static var none: Message { Message([:]) }

  subscript(name: String) -> Any? { object[name] }

  func text(_ name: String) -> String? { object[name] as? String }
  func number(_ name: String) -> Double? { object[name] as? Double }
  func has(_ name: String) -> Bool { object[name] != nil }

  var isReply: Bool { has("reply") }
  var isOK: Bool? { object["ok"] as? Bool }
  var error: Message? { (object["error"] as? [String: Any]).map { Message($0) } }
  var code: String? { error?.text("code") }
  var cause: String? { text("cause") }
  /// The state of a reply.
  var timer: Message? { (object["timer"] as? [String: Any]).map { Message($0) } }
  var timers: [Message] { (object["timers"] as? [[String: Any]] ?? []).map { Message($0) } }
  var revision: Int? { object["revision"] as? Int }
  var time: Double? { number("time") }
  var status: String? { text("status") }

  /// A short form: `hello`, `ok 1`, `outOfRange 2`, `tick tea 4`, `removed tea`.
  var description: String {
    if isReply {
      let tag = object["reply"] is NSNull ? "null" : "\(object["reply"] ?? "")"
      return "\(isOK == true ? "ok" : code ?? "?") \(tag)"
    }
    guard text("event") == "snapshot" else {
      return [text("event"), text("timer")].compactMap(\.self).joined(separator: " ")
    }
    let shown = timers.map { "\($0.text("timer") ?? "?") \(Self.short($0.time ?? .nan))" }
    return ([cause ?? "?"] + shown).joined(separator: " ")
  }

  private static func short(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
  }
}
