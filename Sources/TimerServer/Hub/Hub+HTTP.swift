import TimerCore
import TimerProtocol
import TimerStorage
import WebSocketTransport

/// The same commands for `curl`.
extension Hub {
  mutating func answer(
    _ request: HTTPRequest, _ id: HTTPRequestID, _ turn: inout Turn
  ) {
    if let probe = HealthProbe(request) {
      return answer(probe, request, id, &turn)
    }
    if let refusal = options.access.refusal(of: request) {
      return rejectAccess(refusal, to: id, &turn)
    }
    let reading = RequestCost.reading(request.body.count)
    guard httpBudgets.consume(for: request.peerNetwork, cost: reading, at: turn.now) else {
      let error = ErrorReply(
        .rateLimited,
        "more than \(options.httpRequests.perSecond) requests a second from your address; wait a second, and send fewer"
      )
      turn.actions.refusals.append(.addressRate)
      return respondError(error, to: id, &turn)
    }
    if let answer = options.access.preflight(request) {
      turn.actions.transport.append(.respond(answer, to: id))
      return
    }
    let reader = HTTPRouteReader(
      request: request, allowsGet: options.allowsGet, history: history)
    let route = Result { () throws(HTTPRoute.Refusal) in try reader.route() }
    guard let grant = grantOrRefuse(request, id, &turn) else { return }
    do throws(ErrorReply) {
      guard payers.consume(for: Payer(grant, request), cost: reading, at: turn.now) else {
        turn.actions.refusals.append(.sharedRate)
        throw sharedRateExceeded
      }
      try answer(route, request, grant, id, &turn)
    } catch {
      respondError(error, to: id, &turn)
    }
  }

  /// The sender's grant; nil if the request was answered with an error for its token.
  private mutating func grantOrRefuse(
    _ request: HTTPRequest, _ id: HTTPRequestID, _ turn: inout Turn
  ) -> Grant? {
    do throws(ErrorReply) {
      return try grant(Credentials(request), from: Peer(request), &turn)
    } catch {
      // An unknown token is logged separately.
      counters.refusals[error.code, default: 0] += 1
      respond(.refused(.none, error, timer: nil), to: id, &turn)
      return nil
    }
  }

  private mutating func answer(
    _ route: Result<HTTPRoute, HTTPRoute.Refusal>, _ request: HTTPRequest, _ grant: Grant,
    _ id: HTTPRequestID, _ turn: inout Turn
  ) throws(ErrorReply) {
    switch route {
    case .success(.metrics):
      try grant.checkSeesAll()
      charge(RequestCost.metrics, request, grant, at: turn.now)
      turn.actions.transport.append(.respond(metrics, to: id))
    case .success(.qrCode(let text)):
      try grant.check(.view)
      let cost = qrCodeCache.picture(of: text) == nil ? RequestCost.qrCode(text) : 0
      charge(cost, request, grant, at: turn.now)
      let payer = Payer(grant, request)
      if beginOrQueue(cost, at: turn.now, or: .picture(text, id), of: payer) {
        answerQRCode(text, id, &turn)
      }
    case .success(.command(let message)):
      counters.messagesReceived += 1
      command(message, request, grant, id, &turn)
    case .success(.changeByGet(let message)):
      counters.messagesReceived += 1
      try changeByGet(message, request, grant, id, &turn)
    case .failure(let refusal):
      counters.messagesReceived += 1
      counters.refusals[refusal.error.code, default: 0] += 1
      let timer = refusal.timer.flatMap {
        grant.shows($0) ? timerTable.reading($0, at: turn.now) : nil
      }
      turn.actions.transport.append(.respond(refusal.response(timer: timer), to: id))
    }
  }

  private mutating func rejectAccess(
    _ refusal: AccessRefusal, to id: HTTPRequestID, _ turn: inout Turn
  ) {
    counters.refusals[.forbidden, default: 0] += 1
    turn.actions.refusals.append(.access(refusal))
    turn.actions.transport.append(.respond(refusal.response, to: id))
  }

  private mutating func respondError(
    _ error: ErrorReply, to id: HTTPRequestID, _ turn: inout Turn
  ) {
    count(error.code, &turn)
    respond(.refused(.none, error, timer: nil), to: id, &turn)
  }

  /// Makes a change by URL alone. It needs a token, so that a page can't guess the URL. Requests from another site's
  /// page and prefetches are refused all the same.
  private mutating func changeByGet(
    _ message: ClientMessage, _ request: HTTPRequest, _ grant: Grant, _ id: HTTPRequestID,
    _ turn: inout Turn
  ) throws(ErrorReply) {
    if let refusal = options.access.refusal(ofChangeByGet: request) {
      return rejectAccess(refusal, to: id, &turn)
    }
    guard grant.token != nil else {
      throw ErrorReply(
        .unauthorized, "a change by GET needs a token, as in \"?token=…\"; or send it by POST")
    }
    let payer = Payer(grant, request)
    let requester = Requester.http(id, payer, network: request.peerNetwork)
    change(message, by: requester, Caller(request, grant), &turn)
  }

  private mutating func command(
    _ message: ClientMessage, _ request: HTTPRequest, _ grant: Grant, _ id: HTTPRequestID,
    _ turn: inout Turn
  ) {
    let cost = cost(of: message.request, in: grant.scope)
    charge(cost, request, grant, at: turn.now)
    let payer = Payer(grant, request)
    if message.request.isChange {
      let requester = Requester.http(id, payer, network: request.peerNetwork)
      change(message, by: requester, Caller(request, grant), &turn)
      return
    }
    let job = Job.command(message, request, grant, id)
    if beginOrQueue(cost, at: turn.now, or: job, of: payer) {
      answerQuery(message, request, grant, id, &turn)
    }
  }

  // MARK: The server itself

  /// Answers a health check under any host name and without a budget, so that monitoring never takes a busy server for
  /// a broken one.
  private mutating func answer(
    _ probe: HealthProbe, _ request: HTTPRequest, _ id: HTTPRequestID, _ turn: inout Turn
  ) {
    if let answer = options.access.preflight(request) {
      turn.actions.transport.append(.respond(answer, to: id))
      return
    }
    let isKnown = options.access.knowsHost(request.headers)
    var response: HTTPResponse
    switch probe {
    case .readiness: response = readiness(isBare: !isKnown)
    case .health where !isKnown: response = Self.bareHealth
    case .health: response = health(for: request, &turn)
    }
    if request.method == "OPTIONS" {
      response.headers.append(
        HTTPHeader("Allow", HealthProbe.methods.joined(separator: ", ")))
    }
    turn.actions.transport.append(.respond(response, to: id))
  }

  /// The response without any detail, for requests with an unknown host name: a page of that name could read it.
  private static let bareHealth = HTTPResponse(
    status: 200, headers: [notStored], body: Health.bare)

  /// An invalid token says nothing about the server's health, and a status other than 200 may make a supervisor restart
  /// it. Tokens over the rate limit are not looked up.
  private mutating func health(
    for request: HTTPRequest, _ turn: inout Turn
  ) -> HTTPResponse {
    let credentials = Credentials(request)
    guard credentials.secret == nil || httpBudgets.consume(for: request.peerNetwork, at: turn.now)
    else {
      return Self.bareHealth
    }
    guard let grant = try? grant(credentials, from: Peer(request), &turn) else {
      return Self.bareHealth
    }
    return health(for: grant)
  }

  /// A server that answers is healthy. Files that it could not read are listed for senders that may see everything.
  private mutating func health(for grant: Grant) -> HTTPResponse {
    let clock = Health.Clock(wallOffset: wallOffset, steps: counters.clockSteps)
    let body =
      grant.seesAll
      ? quarantine.healthPage(trouble: storageTrouble, clock: clock)
      : Health(faults: [], trouble: storageTrouble, clock: clock).text
    return HTTPResponse(status: 200, headers: [Self.notStored], body: body)
  }

  private func readiness(isBare: Bool) -> HTTPResponse {
    guard case .no = stopping else {
      return HTTPResponse(
        status: 503, headers: [Self.notStored], body: Array("{\"status\":\"stopping\"}".utf8))
    }
    if let storageTrouble {
      return HTTPResponse(
        status: 503, headers: [Self.notStored],
        body: Health.unwritable(isBare ? nil : storageTrouble))
    }
    return HTTPResponse(
      status: 200, headers: [Self.notStored], body: Array("{\"status\":\"ready\"}".utf8))
  }

  private var metrics: HTTPResponse {
    let text = MetricsText(
      counters, transport, connections: sessions.count, timers: timerTable.latestCount,
      running: ticks.running.count, wallOffset: wallOffset)
    return HTTPResponse(
      status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8",
      headers: [Self.notStored], body: Array(text.text.utf8))
  }
}
