import TimerCore
import WebSocketTransport

@testable import TimerServer

/// Tokens for a test; the secret of each is its name with `secret-` before it. `end` is an instant of the server clock,
/// as if nobody had set the wall clock.
extension Token {
  static func make(
    _ name: String, _ role: Role = .control, timers: [String]? = nil, until end: Instant? = nil
  ) -> Token {
    guard let digest = TokenDigest(of: secret(name)) else { preconditionFailure("it is plain") }
    let scope = timers.map { TimerScope.matching(Set($0.compactMap { TimerPattern($0) })) }
    return Token(
      name: name, role: role, scope: scope ?? .all,
      end: end.map { WallTime(at: $0, offset: .zero) }, digest: digest)
  }

  static func secret(_ name: String) -> String {
    "secret-" + String(name.map { $0 == " " ? "-" : $0 })
  }
}

extension TokenTable {
  /// A view-only token and a control token for all timers, and one of each that is limited to the kitchen's timers.
  static let sample = TokenTable([
    .make("wall", .view), .make("stage", .control),
    .make("cook", .control, timers: ["kitchen*", "tea"]),
    .make("guest", .view, timers: ["kitchen*"]),
  ])
}

extension HubBench {
  /// A server with tokens; it has the timers `kitchen`, `kitchen 2` and `stage`, which run.
  static func withTokens(
    _ book: TokenTable = .sample, anonymous: Role? = nil,
    _ setUp: (inout HubOptions) -> Void = { _ in }
  ) -> HubBench {
    var bench = HubBench.make { options in
      options.tokens = book
      options.anonymousRole = anonymous
      setUp(&options)
    }
    for timer in ["kitchen", "kitchen 2", "stage"] {
      bench.start(timer)
    }
    return bench
  }

  /// Starts a timer, with a token that has the permission.
  mutating func start(_ timer: String, _ duration: Int = 300) {
    let tokens = hub.tokens?.tokens ?? []
    keep(tokens + [.make("starter")])
    let connection = connect(token: "starter")
    send(#"{"command":"start","timer":"\#(timer)","duration":\#(duration)}"#, from: connection)
    store()
    disconnect(connection)
    keep(tokens)
  }

  /// A connection that presents a token in its address.
  mutating func connect(token name: String, _ query: [QueryItem] = []) -> ConnectionID {
    connect([QueryItem("token", Token.secret(name))] + query)
  }

  /// Sends a request with a token, and returns the reply in short.
  mutating func ask(_ json: String, token name: String) -> Message {
    let connection = connect(token: name)
    send(json, from: connection)
    store()
    let reply = messages(to: connection).last { $0.isReply }
    disconnect(connection)
    return reply ?? .none
  }

  /// The file of tokens holds these from here on.
  mutating func keep(_ tokens: [Token]) {
    handle(.tokens(TokenTable(tokens)))
  }
}

func bearer(_ name: String) -> [String: String] {
  ["authorization": "Bearer \(Token.secret(name))"]
}
