import TimerCore
import TimerProtocol
import WebSocketTransport

/// The request that an HTTP request stands for.
enum HTTPRoute: Equatable {
  case command(ClientMessage)
  /// A change that a URL alone asks for, as a button box does.
  case changeByGet(ClientMessage)
  /// A QR code of a text.
  case qrCode(QRText)
  case metrics

  /// An error response that says what would be right.
  struct Refusal: Error, Equatable {
    let error: ErrorReply
    var allow: String?
    /// The timer that it speaks of.
    var timer: TimerID?

    init(_ code: ErrorCode, _ message: String, allow: String? = nil) {
      self.allow = allow
      error = ErrorReply(code, message)
    }

    init(_ malformed: MalformedMessage) {
      self.init(malformed.error)
      timer = malformed.timer
    }

    init(_ error: ErrorReply) {
      self.error = error
    }

    func response(timer: TimerReading?) -> HTTPResponse {
      HTTPResponse(
        status: error.code.httpStatus,
        headers: [Hub.notStored] + (allow.map { [HTTPHeader("Allow", $0)] } ?? []),
        body: ServerMessage.refused(.none, error, timer: timer).text)
    }
  }
}

extension HTTPRoute {
  /// Returns whether the request reads `NAME/COMMAND`: a change with `--allow-get`, and otherwise a timer's name.
  static func looksLikeChangeByGet(_ request: HTTPRequest) -> Bool {
    let path = request.path
    return path.count >= 4 && path.starts(with: ["api", "timers"])
      && path.last.map(ClientRequest.isChange) == true && readMethods.contains(request.method)
  }

  /// The methods that change nothing.
  static let readMethods = ["GET", "HEAD"]
}
