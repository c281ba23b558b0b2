/// Why a request is not taken up.
enum HTTPRefusal: Error {
  case malformed(String)
  case version, method, coding, headTooLong
  case bodyTooLong(bytesMax: Int)

  var response: HTTPResponse {
    switch self {
    case .malformed(let words): HTTPReply.plain(400, "The request is malformed: \(words).")
    case .version: HTTPReply.plain(505, "HTTP/1.1 is spoken here.")
    case .method: HTTPReply.unknownMethod(501)
    case .coding: HTTPReply.plain(501, "The only Transfer-Encoding known here is chunked.")
    case .headTooLong:
      HTTPReply.plain(431, "The request's head is over \(HTTPHead.bytesMax) bytes.")
    case .bodyTooLong(let bytesMax):
      HTTPReply.refusal(
        413, code: "badRequest", "the body is over \(bytesMax) bytes", isRetryable: false)
    }
  }
}
