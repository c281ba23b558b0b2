import TimerCore
import TimerProtocol

/// A visitor's role, and the timers that it applies to.
struct Grant: Equatable, Sendable {
  let role: Role
  let scope: TimerScope
  /// The token that gives the grant; nil for a visitor without a token.
  let token: Token?
  let principal: Principal

  /// The grant of a visitor without a token.
  init(anonymous role: Role) {
    self.role = role
    scope = .all
    token = nil
    principal = .visitors
  }

  init(_ token: Token) {
    role = token.role
    scope = token.scope
    self.token = token
    principal = Principal(token)
  }

  /// Returns whether this timer's state may be shown.
  func shows(_ id: TimerID) -> Bool {
    role >= .view && scope.contains(id)
  }

  /// True if the grant covers every timer.
  var seesAll: Bool { role >= .view && scope == .all }

  /// Throws unless the grant covers the server as a whole.
  func checkSeesAll() throws(ErrorReply) {
    try check(.view)
    guard seesAll else {
      throw ErrorReply(
        .forbidden, "this token is limited to some timers, and this request is about all of them")
    }
  }

  /// Refuses what is not granted; the one place where that is decided, for every way of asking.
  func check(_ request: ClientRequest) throws(ErrorReply) {
    switch request {
    case .sync, .authenticate: return
    case .change(let id, _, _):
      try check(.control)
      try check([id])
    case .finishAll: try check(.control)
    case .get(let id):
      try check(.view)
      try check([id])
    case .subscribe(.timers(let ids), _, _, _):
      try check(.view)
      try check(ids)
    case .list, .listPage, .subscribe(.all, _, _, _), .unsubscribe: try check(.view)
    }
  }

  /// Refuses what needs a higher role.
  func check(_ needed: Role) throws(ErrorReply) {
    guard role < needed else { return }
    guard role == .none else {
      throw ErrorReply(
        .forbidden, "role \"view\" is read-only; authenticate with a control token to make changes")
    }
    throw ErrorReply(
      .unauthorized,
      "a token is required: connect with one, or send {\"command\":\"authenticate\",\"token\":…}"
    )
  }

  private func check(_ ids: [TimerID]) throws(ErrorReply) {
    guard scope.contains(ids) else {
      throw ErrorReply(
        .forbidden, "this token is limited to other timers; \"list\" shows them")
    }
  }
}
