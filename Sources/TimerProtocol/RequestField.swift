import TimerCore

/// A field of a request, beside `id` and `command`: its name, and what its value is.
struct RequestField: Hashable, Sendable {
  let name: String
  let kind: Kind

  init(_ name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }

  enum Kind: Sendable {
    case flag, number, numbers, text
    /// `*`, or an array of names.
    case names
  }

  // The names of timers.
  static let timer = RequestField("timer", .text)
  static let timers = RequestField("timers", .names)
  // The settings, by their own table, and what a start has beside them.
  static let settings = SettingField.inRequests.map(RequestField.init(_:))
  static let duration = RequestField("duration", .number)
  static let type = RequestField("type", .text)
  static let force = RequestField("force", .flag)
  // The parameters of other commands.
  static let resetTime = RequestField("resetTime", .flag)
  static let seconds = RequestField("seconds", .number)
  static let clamp = RequestField("clamp", .flag)
  static let text = RequestField("text", .text)
  static let signal = RequestField("signal", .text)
  static let limit = RequestField("limit", .number)
  static let after = RequestField("after", .text)
  static let interval = RequestField("interval", .number)
  static let since = RequestField("since", .text)
  static let parts = RequestField("parts", .flag)
  static let clientTime = RequestField("clientTime", .number)
  static let token = RequestField("token", .text)
  // Under which conditions, and under which name.
  static let ifRevision = RequestField("ifRevision", .number)
  static let ifRun = RequestField("ifRun", .number)
  static let at = RequestField("at", .number)
  static let requestId = RequestField("requestId", .text)

  static let conditions = [ifRevision, ifRun, at, requestId]
}
