import CLibuv

/// Answers, and their bytes.
enum HTTPReply {
  /// One line of plain text, as the transport's own refusals are.
  static func plain(_ status: Int, _ line: String, _ headers: [HTTPHeader] = []) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", headers: headers + [notStored],
      body: Array("\(line)\n".utf8))
  }

  /// A cache may keep a 404 without being asked to, and what is not there now may be there soon.
  private static let notStored = HTTPHeader("Cache-Control", "no-store")

  static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

  /// The response to OPTIONS.
  static func allowing(_ methods: [String]) -> HTTPResponse {
    HTTPResponse(
      status: 204, headers: [HTTPHeader("Allow", methods.joined(separator: ", ")), notStored])
  }

  static func unknownMethod(_ status: Int) -> HTTPResponse {
    plain(
      status, "This method is not supported.",
      [HTTPHeader("Allow", methods.joined(separator: ", "))])
  }

  /// For one connection too many.
  static func busy(_ line: String) -> HTTPResponse {
    plain(503, line, [HTTPHeader("Retry-After", "5")])
  }

  /// The bytes of an answer; to HEAD, its head alone.
  static func bytes(
    of response: HTTPResponse, commonHeaders: [HTTPHeader], isHead: Bool, isLast: Bool
  ) -> [UInt8] {
    let status = response.status
    var head = "HTTP/1.1 \(status) \(reason(status))\r\nDate: \(date())\r\n"
    let isBodiless = (100..<200).contains(status) || status == 204 || status == 304
    if !isBodiless {
      head += "Content-Type: \(response.contentType)\r\nContent-Length: \(response.body.count)\r\n"
    }
    for header in response.headers { head += "\(header.name): \(oneLine(header.value))\r\n" }
    for header in commonHeaders
    where !response.headers.contains(where: { $0.name.lowercased() == header.name.lowercased() }) {
      head += "\(header.name): \(oneLine(header.value))\r\n"
    }
    if isLast { head += "Connection: close\r\n" }
    head += "\r\n"
    return Array(head.utf8) + (isHead || isBodiless ? [] : response.body)
  }

  /// A header can't bring further headers with it.
  private static func oneLine(_ value: String) -> String {
    String(String.UnicodeScalarView(value.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }))
  }

  private static func date() -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
      guard let start = text.baseAddress else { return "" }
      // Writes a terminated string of 30 bytes into this temporary.
      unsafe shim_http_date(start)
      return unsafe String(cString: start)
    }
  }

  private static func reason(_ status: Int) -> String { reasons[status] ?? "Status" }

  private static let reasons = [
    100: "Continue", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
    304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 411: "Length Required",
    412: "Precondition Failed", 413: "Content Too Large", 415: "Unsupported Media Type",
    422: "Unprocessable Content", 426: "Upgrade Required", 428: "Precondition Required",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
  ]
}
