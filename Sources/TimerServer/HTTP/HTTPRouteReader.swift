import TimerCore
import TimerProtocol
import WebSocketTransport

/// Reads a request by its path, method, headers and body.
struct HTTPRouteReader {
  typealias Refusal = HTTPRoute.Refusal

  let request: HTTPRequest
  /// True if the commands that change timers are accepted by GET too.
  let allowsGet: Bool
  /// The history that the entity tags of this server carry.
  let history: String

  /// Finds what the request asks for.
  func route() throws(Refusal) -> HTTPRoute {
    if allowsGet, let changeByGet = try changeByGet() { return changeByGet }
    switch request.path {
    case ["healthz"], ["readyz"]:
      // With an accepted method the request is a `HealthProbe`, and doesn't come here.
      throw Self.otherMethod(HTTPRoute.readMethods)
    case ["metrics"]: return try only(HTTPRoute.readMethods, .metrics)
    case ["api", "timers"]: return try only(HTTPRoute.readMethods, .command(try list()))
    case ["api", "qr"]: return try qrCode()
    // As in a subscription, `*` stands for every timer.
    case ["api", "timers", "*", "finishAll"]:
      return try only(["POST"], .command(try message("finishAll", nil)))
    case let path where path.count >= 3 && path.starts(with: ["api", "timers"]):
      return try timer(Array(path.dropFirst(2)))
    default:
      throw Refusal(
        .notFound,
        "there are /api/timers, /api/timers/NAME and, by POST, /api/timers/NAME/COMMAND and /api/qr"
      )
    }
  }

  /// `NAME`, or `NAME/COMMAND` by POST. A name may contain slashes: by POST it ends at the last one, otherwise it is
  /// the whole text.
  private func timer(_ path: [String]) throws(Refusal) -> HTTPRoute {
    let name = path.joined(separator: "/")
    switch request.method {
    case "GET", "HEAD": return .command(try message("get", name))
    case "DELETE": return .command(try message("remove", name))
    case "POST" where path.count >= 2:
      let owner = path.dropLast().joined(separator: "/")
      return .command(try message(path[path.count - 1], owner))
    default:
      throw Refusal(
        .methodNotAllowed,
        "read a timer by GET, remove it by DELETE, and send commands by POST to "
          + "/api/timers/NAME/COMMAND",
        allow: path.count >= 2 ? "GET, HEAD, POST, DELETE" : "GET, HEAD, DELETE")
    }
  }

  /// The text comes in the body of a POST: it may hold a token, and URLs are kept in logs and histories.
  private func qrCode() throws(Refusal) -> HTTPRoute {
    guard request.method == "POST" else {
      throw Refusal(
        .methodNotAllowed, "the method here is POST, with a body like {\"text\":\"https://…\"}",
        allow: "POST")
    }
    do throws(ErrorReply) { return .qrCode(try QRText(body: request.body)) } catch {
      throw Refusal(error)
    }
  }

  /// A GET of `NAME/COMMAND`; a timer that is named so is read with its slash escaped.
  private func changeByGet() throws(Refusal) -> HTTPRoute? {
    let path = request.path
    guard HTTPRoute.looksLikeChangeByGet(request), let command = path.last else { return nil }
    guard request.method == "GET" else {
      throw Refusal(
        .methodNotAllowed, "send commands by POST, or by GET on this server", allow: "GET, POST")
    }
    let name = path[2..<path.count - 1].joined(separator: "/")
    let query = request.query.filter { $0.name != "token" }
    do {
      return .changeByGet(
        try ClientMessage(
          command: command, timer: name == "*" && command == "finishAll" ? nil : name,
          fields: try conditions(), query: query.map { ($0.name, $0.value) }))
    } catch let error as MalformedMessage {
      throw Refusal(error)
    } catch let error as Refusal {
      throw error
    } catch {
      preconditionFailure("only these two are thrown: \(error)")
    }
  }

  /// The route, if the request has one of these methods.
  private func only(_ methods: [String], _ route: HTTPRoute) throws(Refusal) -> HTTPRoute {
    guard methods.contains(request.method) else { throw Self.otherMethod(methods) }
    return route
  }

  private static func otherMethod(_ methods: [String]) -> Refusal {
    let allow = methods.joined(separator: ", ")
    return Refusal(.methodNotAllowed, "the method here is \(allow)", allow: allow)
  }

  // MARK: From headers to fields

  private func message(_ command: String, _ timer: String?) throws(Refusal) -> ClientMessage {
    let isRead = HTTPRoute.readMethods.contains(request.method)
    if !isRead,
      let item = request.query.first(where: { $0.name != "token" })
    {
      throw Refusal(ErrorReply(.badRequest, Self.unknownParameter(item.name)))
    }
    let fields = isRead ? try readConditions() : try conditions()
    do {
      return try ClientMessage(command: command, timer: timer, fields: fields, body: request.body)
    } catch {
      throw Refusal(error)
    }
  }

  /// The whole list, or the page of it that `?limit=50&after=NAME` asks for.
  private func list() throws(Refusal) -> ClientMessage {
    let query = request.query.filter { $0.name == "limit" || $0.name == "after" }
    guard HTTPRoute.readMethods.contains(request.method), !query.isEmpty else {
      return try message("list", nil)
    }
    let fields = try readConditions()
    do {
      return try ClientMessage(
        command: "list", timer: nil, fields: fields, query: query.map { ($0.name, $0.value) })
    } catch {
      throw Refusal(error)
    }
  }

  /// The message for a query parameter that this path does not have. If the parameter were ignored, `POST
  /// …/start?duration=300` would start a stopwatch.
  private static func unknownParameter(_ name: String) -> String {
    "the URL has no parameter \"\(name.prefix(40))\" here, but for \"token\"; the fields of a command are the JSON "
      + "body of its POST, as in {\"duration\":300}"
  }

  /// The conditions in the headers of a change, as fields of its command.
  private func conditions() throws(Refusal) -> [HeaderField] {
    var fields: [HeaderField] = []
    if let text = request.headers["if-match"], text != "*" {
      let tags = StateTag.list(text)
      guard let tag = tags.first, tags.count == 1, !text.contains(",") else {
        throw Refusal(
          .badRequest,
          "\"If-Match\" has to be one state's entity tag in quotes, as its \"ETag\" has it")
      }
      guard tag.isOf(history) else { throw Refusal(Self.otherHistory) }
      fields.append(.number("ifRevision", tag.revision))
    }
    if let text = request.headers["if-none-match"] {
      guard text == "*" else {
        throw Refusal(
          .badRequest,
          "\"If-None-Match\" of a change has to be \"*\", for a timer that must not exist yet; \"If-Match\" "
            + "compares states")
      }
      fields.append(.number("ifRevision", 0))
    }
    if let key = request.headers["idempotency-key"] { fields.append(.text("requestId", key)) }
    return fields
  }

  /// A read has no conditions as fields: `If-None-Match` is compared with its answer, and it may be repeated at will,
  /// whatever `Idempotency-Key` says.
  private func readConditions() throws(Refusal) -> [HeaderField] {
    guard request.headers["if-match"] == nil else {
      throw Refusal(.badRequest, "\"If-Match\" is for changes; a read takes \"If-None-Match\"")
    }
    return []
  }

  private static let otherHistory = ErrorReply(
    .revisionMismatch,
    "the entity tag is of another history of the data, as before a backup was restored; read the timer again"
  )
}
