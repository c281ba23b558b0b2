/// The answer to an HTTP request.
public struct HTTPResponse: Sendable, Equatable {
  public var status: Int
  public var contentType: String
  /// Further headers, names as they go out.
  public var headers: [HTTPHeader]
  public var body: [UInt8]

  public init(
    status: Int, contentType: String = "application/json; charset=utf-8",
    headers: [HTTPHeader] = [],
    body: [UInt8] = []
  ) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }
}
