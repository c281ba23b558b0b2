import TimerCore
import TimerProtocol
import WebSocketTransport

/// Responses to HTTP requests, with what caches need to know.
extension Hub {
  /// Answers what changes nothing.
  mutating func answerQuery(
    _ message: ClientMessage, _ request: HTTPRequest, _ grant: Grant, _ id: HTTPRequestID,
    _ turn: inout Turn
  ) {
    let expected = cost(of: message.request, in: grant.scope)
    var cost = expected
    do {
      let outcome = try timerTable.outcome(
        of: message.request, as: grant, receivedAt: turn.now, at: turn.now)
      if case .timer(let reading) = outcome, isNoNewer(reading, than: request) {
        let answer = HTTPResponse(status: 304, headers: [Self.revalidated, entityTag(of: reading)])
        turn.actions.transport.append(.respond(answer, to: id))
      } else {
        cost = RequestCost.writing(
          respond(.accepted(message.tag, outcome), to: id, caching: Self.revalidated, &turn))
      }
    } catch {
      count(error.code, &turn)
      if error.code == .unknownTimer, HTTPRoute.looksLikeChangeByGet(request) {
        turn.actions.refusals.append(.getNotAllowed)
      }
      respond(.refused(message.tag, error, timer: nil), to: id, &turn)
    }
    charge(cost - expected, request, grant, at: turn.now)
    spend(max(cost, expected), at: turn.now)
  }

  /// Answers a request for a QR code.
  mutating func answerQRCode(
    _ text: QRText, _ id: HTTPRequestID, _ turn: inout Turn
  ) {
    turn.actions.transport.append(.respond(picture(of: text, at: turn.now), to: id))
  }

  private mutating func picture(of text: QRText, at now: Instant) -> HTTPResponse {
    var picture = qrCodeCache.picture(of: text)
    if picture == nil, let code = QRCode(text) {
      let svg = code.svg
      qrCodeCache.insert(svg, of: text)
      spend(RequestCost.qrCode(text), at: now)
      picture = svg
    }
    guard let picture else { return HTTPResponse(status: 500) }
    return HTTPResponse(
      status: 200, contentType: "image/svg+xml", headers: [Self.notStored], body: picture)
  }

  /// Answers, and gives the bytes of the body.
  @discardableResult
  func respond(
    _ message: ServerMessage, to id: HTTPRequestID, caching: HTTPHeader = notStored,
    _ turn: inout Turn
  ) -> Int {
    var response = HTTPResponse(status: 200, headers: [caching], body: message.text)
    switch message {
    case .accepted(_, .timer(let reading)): response.headers.append(entityTag(of: reading))
    case .refused(_, let error, let timer):
      response.status = error.code.httpStatus
      if let timer { response.headers.append(entityTag(of: timer)) }
      if error.code == .rateLimited { response.headers.append(HTTPHeader("Retry-After", "1")) }
      if error.code == .unauthorized {
        response.headers.append(HTTPHeader("WWW-Authenticate", "Bearer"))
      }
    default: break
    }
    turn.actions.transport.append(.respond(response, to: id))
    return response.body.count
  }

  /// A state is right for an instant only; a validator may be kept, the body not be reused unasked.
  private static let revalidated = HTTPHeader("Cache-Control", "no-cache")
  /// The result of a change, and an error, must not be shared by caches.
  static let notStored = HTTPHeader("Cache-Control", "no-store")

  // MARK: Entity tags

  private func entityTag(of reading: TimerReading) -> HTTPHeader {
    HTTPHeader("ETag", StateTag(history: history, revision: reading.timer.revision).text)
  }

  /// Whether the client has this state, and nothing but a change makes it another: a running timer's time passes under
  /// one revision.
  private func isNoNewer(_ reading: TimerReading, than request: HTTPRequest) -> Bool {
    guard !reading.timer.isRunning, let tags = request.headers["if-none-match"] else {
      return false
    }
    return tags == "*"
      || StateTag.list(tags).contains { $0.isOf(history) && $0.revision == reading.timer.revision }
  }
}
