import WebSocketTransport

/// A reason for a refusal that may interest the operator.
enum RefusalReason: Equatable, Sendable {
  case access(AccessRefusal)
  /// A change by GET, where none is taken.
  case getNotAllowed
  case noToken, wrongToken
  case connectionRate, addressRate, sharedRate
  /// Handshakes and wrong tokens of one address.
  case handshakeRate
  case tooManyTimers, tooManySubscriptions
  case transport(TransportRefusal)
}

/// Refusals that share a line in the log.
struct RefusalSubject: Hashable, Sendable {
  let level: LogLevel
  /// The text after "was refused".
  let words: String
  /// The kind of which there may be any number of subjects, since clients choose the words; nil: there is but one.
  let kind: Kind?
  private let noun: Noun

  private enum Noun { case request, connection }

  enum Kind: CaseIterable {
    case host, origin

    /// The text after "was refused" for subjects without a line of their own.
    var others: String {
      switch self {
      case .host: "for other Hosts; --host NAME adds a name of this server"
      case .origin: "for other Origins; --origin ORIGIN allows another site's pages"
      }
    }
  }

  init(_ reason: RefusalReason) {
    switch reason {
    case .access(.host(let field)):
      self.init(.warning, Self.words(host: field), .host)
    case .access(.origin(let field)):
      self.init(.warning, Self.words(origin: field), .origin)
    case .access(.crossSiteChange):
      self.init(
        .warning,
        "for a change by GET from another site's page; use a bookmark or a device")
    case .access(.prefetch):
      self.init(
        .info, "for a change by GET in a prefetch; the page was not opened yet")
    case .getNotAllowed:
      self.init(
        .warning, "for a change by GET; start with --allow-get if a device can't POST")
    case .noToken:
      self.init(
        .warning,
        "for a missing token; make one with 'timersync token add', or start with --anonymous view or "
          + "--anonymous control to admit visitors without one")
    case .wrongToken:
      self.init(
        .warning,
        "for an unknown or ended token; 'timersync token list' shows the valid ones")
    case .connectionRate:
      self.init(.warning, "for too many requests on one connection; --requests COUNT allows more")
    case .addressRate:
      self.init(
        .warning,
        "for too many requests by HTTP of one address; --http-requests COUNT allows more")
    case .sharedRate:
      self.init(
        .warning,
        "for too many requests of one token or address over all connections; --requests COUNT allows "
          + "ten times COUNT")
    case .handshakeRate:
      self.init(
        .warning, "for too many handshakes or wrong tokens of one address at once", of: .connection)
    case .tooManyTimers:
      self.init(.warning, "for too many timers; --timers COUNT allows more")
    case .tooManySubscriptions:
      self.init(
        .warning, "for too many subscriptions of one connection; --subscriptions COUNT allows more")
    case .transport(let refusal): self.init(refusal)
    }
  }

  private init(
    _ level: LogLevel, _ words: String, _ kind: Kind? = nil, of noun: Noun = .request
  ) {
    (self.level, self.words, self.kind, self.noun) = (level, words, kind, noun)
  }

  /// The line about the first one.
  var first: LogLine { LogLine(level: level, text: "a \(noun) was refused \(words)") }

  /// The line about a minute.
  func line(_ count: Int) -> LogLine { Self.line(count, level, noun, words) }

  /// The line for all subjects of a kind that have no line of their own.
  static func line(_ count: Int, othersOf kind: Kind) -> LogLine {
    line(count, .warning, .request, kind.others)
  }

  private static func line(
    _ count: Int, _ level: LogLevel, _ noun: Noun, _ words: String
  ) -> LogLine {
    let subject =
      count == 1 ? "1 \(noun) in the last minute was" : "\(count) \(noun)s in the last minute were"
    return LogLine(level: level, text: "\(subject) refused \(words)")
  }

  // MARK: What clients send

  private static func words(host field: String) -> String {
    guard let host = Authority(field)?.host, host.text.utf8.count <= bytesMax else {
      return "for the Host \(quoted(field)), which is not a host name"
    }
    // A name could be asked for with any port.
    return "for the Host \(quoted(host.text)); if that is this server, start it with --host "
      + "\(host.text) to allow it"
  }

  private static func words(origin field: String) -> String {
    guard let origin = Origin(field), origin.text.utf8.count <= bytesMax else {
      return "for the Origin \(quoted(field)), which is not a site's"
    }
    return "for the Origin \(quoted(origin.text)); if its pages may use this server, start it with "
      + "--origin \(origin.text) to allow them"
  }

  /// The longest text of a client that is quoted.
  private static let bytesMax = 80

  /// The beginning of what a client sent; it can't end the quotes, nor anything else.
  private static func quoted(_ text: String) -> String {
    let marked = text.prefix(bytesMax).map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }
    var shown = ""
    for scalar in Log.escaped(marked.joined()).unicodeScalars {
      guard shown.utf8.count < bytesMax else { return "\"\(shown)…\"" }
      shown.unicodeScalars.append(scalar)
    }
    return text.count > bytesMax ? "\"\(shown)…\"" : "\"\(shown)\""
  }

  // MARK: The transport's

  private init(_ refusal: TransportRefusal) {
    switch refusal {
    case .tooManyConnections:
      self.init(
        .warning, "for too many WebSockets; --connections COUNT allows more", of: .connection)
    case .tooManyPerAddress:
      self.init(
        .warning,
        "for too many connections of one address; --connections-per-address COUNT allows more",
        of: .connection)
    case .tooManyHTTPConnections:
      self.init(
        .warning, "for too many connections by HTTP; --http-connections COUNT allows more",
        of: .connection)
    case .slowRequest:
      self.init(.warning, "for arriving too slowly; --handshake-seconds COUNT gives more time")
    case .slowReader:
      self.init(
        .warning, "for not reading its answer in time; --handshake-seconds COUNT gives more",
        of: .connection)
    case .slowWebSocket:
      self.init(
        .warning, "for not reading its replies; --unread-bytes COUNT allows more",
        of: .connection)
    case .unreadBytesTotal:
      self.init(
        .warning,
        "for the most unread bytes of all readers; --unread-bytes-total COUNT allows more",
        of: .connection)
    case .stalled:
      self.init(.info, "for reading nothing of what waited for it", of: .connection)
    case .headTooLong: self.init(.warning, "for too long a head; --header-bytes COUNT allows more")
    case .bodyTooLong: self.init(.warning, "for too long a body; --message-bytes COUNT allows more")
    case .messageTooLong:
      self.init(
        .warning, "for too long a message; --message-bytes COUNT allows more", of: .connection)
    case .binaryMessage:
      self.init(.warning, "for a binary message; messages are text", of: .connection)
    case .tlsHandshake:
      self.init(
        .info, "for using no TLS, or an unsupported version; use https:// and wss://",
        of: .connection)
    case .webSocketHandshake:
      self.init(
        .info,
        "for a malformed WebSocket handshake; a proxy has to forward Upgrade and Connection"
      )
    case .malformedRequest: self.init(.info, "for being malformed")
    case .pingTimeout: self.init(.info, "for not answering a ping", of: .connection)
    }
  }
}
