import TimerProtocol
import WebSocketTransport

extension ServiceRefusal {
  /// The response in the format of the HTTP API.
  var response: HTTPResponse {
    HTTPResponse(
      status: status, headers: [Hub.notStored],
      body: ServerMessage.refused(.none, ErrorReply(code, message), timer: nil).text)
  }

  private var code: ErrorCode {
    switch self {
    case .unreadable, .bodyTooLong: .badRequest
    case .stopping: .shuttingDown
    }
  }
}
