/// Reasons for rejecting a request.
enum HTTPRefusal: Error {
  case malformed(String)
  case version, method, coding
  case headTooLong(bytesMax: Int)
  case bodyTooLong(bytesMax: Int)

  var kind: TransportRefusal {
    switch self {
    case .malformed, .version, .method, .coding: .malformedRequest
    case .headTooLong: .headTooLong
    case .bodyTooLong: .bodyTooLong
    }
  }

  func response(_ options: TransportOptions) -> HTTPResponse {
    switch self {
    case .malformed(let words): HTTPReply.plain(400, "The request is malformed: \(words).")
    case .version: HTTPReply.plain(505, "This server speaks HTTP/1.1.")
    case .method: HTTPReply.unknownMethod(501)
    case .coding: HTTPReply.plain(501, "The only supported Transfer-Encoding is chunked.")
    case .headTooLong(let bytesMax):
      HTTPReply.plain(431, "The request's head is over \(bytesMax) bytes.")
    case .bodyTooLong(let bytesMax): options.serviceRefusal(.bodyTooLong(bytesMax: bytesMax))
    }
  }
}
