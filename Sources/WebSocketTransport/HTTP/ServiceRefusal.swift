/// Why the transport itself refuses a request that a service would answer; the service has a format for its errors.
public enum ServiceRefusal: Sendable, Equatable {
  /// A part of the request can't be decoded; the words say which.
  case unreadable(String)
  case bodyTooLong(bytesMax: Int)
  /// The server stops before the request is answered.
  case stopping

  /// The status of the response.
  public var status: Int {
    switch self {
    case .unreadable: 400
    case .bodyTooLong: 413
    case .stopping: 503
    }
  }

  /// The fault, as a part of a sentence.
  public var message: String {
    switch self {
    case .unreadable(let why): why
    case .bodyTooLong(let bytesMax): "the body is over \(bytesMax) bytes"
    case .stopping: "the server is stopping"
    }
  }

  /// The response in plain text.
  public var plainResponse: HTTPResponse {
    HTTPReply.plain(status, "\(message.prefix(1).uppercased())\(message.dropFirst()).")
  }
}
