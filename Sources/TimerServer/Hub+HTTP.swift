import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The same commands for `curl`.
extension Hub {
  mutating func answer(
    _ request: HTTPRequest, _ id: RequestID, at now: Instant, _ actions: inout HubActions
  ) {
    if let refusal = options.access.refusal(of: request) {
      actions.transport.append(.respond(refusal, to: id))
      return
    }
    switch Result<HTTPRoute, HTTPRoute.Refusal>(request) {
    case .success(.health): actions.transport.append(.respond(health, to: id))
    case .success(.readiness): actions.transport.append(.respond(readiness, to: id))
    case .success(.metrics): actions.transport.append(.respond(metrics, to: id))
    case .success(.command(let message)):
      counters.messagesReceived += 1
      command(message, request, id, at: now, &actions)
    case .failure(let refusal):
      let timer = refusal.timer.flatMap { reading($0, at: now) }
      actions.transport.append(.respond(refusal.response(timer: timer), to: id))
    }
  }

  private mutating func command(
    _ message: ClientMessage, _ request: HTTPRequest, _ id: RequestID, at now: Instant,
    _ actions: inout HubActions
  ) {
    if message.request.isChange {
      change(message, by: .http(id), role: options.anonymousRole, at: now, &actions)
      return
    }
    do {
      let outcome = try look(message.request, receivedAt: now, at: now)
      if case .timer(let reading) = outcome, reading.isNoNewer(than: request) {
        let answer = HTTPResponse(status: 304, headers: [reading.entityTag])
        actions.transport.append(.respond(answer, to: id))
      } else {
        respond(.accepted(message.tag, outcome), to: id, &actions)
      }
    } catch {
      counters.refusals[error.code, default: 0] += 1
      respond(.refused(message.tag, error, timer: nil), to: id, &actions)
    }
  }

  func respond(_ message: ServerMessage, to id: RequestID, _ actions: inout HubActions) {
    var response = HTTPResponse(status: 200, headers: [Self.notStored], body: message.text)
    switch message {
    case .accepted(_, .timer(let reading)): response.headers.append(reading.entityTag)
    case .refused(_, let error, let timer):
      response.status = error.code.httpStatus
      if let timer { response.headers.append(timer.entityTag) }
      if error.code == .unauthorized {
        response.headers.append(HTTPHeader("WWW-Authenticate", "Bearer"))
      }
    default: break
    }
    actions.transport.append(.respond(response, to: id))
  }

  /// A state is right for an instant only; a validator may be kept, the body not be reused unasked.
  private static let notStored = HTTPHeader("Cache-Control", "no-cache")

  // MARK: The server itself

  /// The server answers, so it is well; files that it could not read are told beside.
  private var health: HTTPResponse {
    let faults = quarantine.faults.values.sorted { $0.fileName < $1.fileName }
    let health = Health(
      faults: faults.map {
        Health.Fault(file: $0.fileName.text, reason: "\($0.fault)", movedTo: $0.movedTo)
      })
    return HTTPResponse(status: 200, headers: [Self.notStored], body: health.text)
  }

  private var readiness: HTTPResponse {
    guard case .no = stopping else {
      return HTTPResponse(status: 503, body: Array("{\"status\":\"stopping\"}".utf8))
    }
    return HTTPResponse(status: 200, body: Array("{\"status\":\"ready\"}".utf8))
  }

  private var metrics: HTTPResponse {
    let text = MetricsText(
      counters, connections: sessions.count, timers: board.latestCount, running: running.count)
    return HTTPResponse(
      status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8",
      headers: [Self.notStored], body: Array(text.text.utf8))
  }
}

extension TimerReading {
  /// The revision, as HTTP names it.
  fileprivate var entityTag: HTTPHeader {
    HTTPHeader("ETag", "\"\(timer.revision)\"")
  }

  /// Whether the one who asks has this revision, and nothing but a change makes it another: a running
  /// timer's time passes under one revision.
  fileprivate func isNoNewer(than request: HTTPRequest) -> Bool {
    guard !timer.isRunning, let tags = request.headers["if-none-match"] else { return false }
    return tags == "*" || HTTPRoute.revisions(in: tags).contains(timer.revision)
  }
}
