@testable import WebSocketTransport

/// A whole request as a parser has read it.
struct ReadRequest: Equatable {
  var method = "GET"
  var target = "/"
  var version = "1.1"
  /// `name: value`, in their order.
  var fields: [String] = []
  var body = ""
}

extension ReadRequest {
  init(_ parser: HTTPParser) {
    method = parser.method
    target = String(decoding: parser.target, as: UTF8.self)
    version = "\(parser.version.major).\(parser.version.minor)"
    fields = parser.fields.map { field in
      let name = String(decoding: parser.text[field.name], as: UTF8.self)
      return "\(name): \(String(decoding: parser.text[field.value], as: UTF8.self))"
    }
    body = String(decoding: parser.body, as: UTF8.self)
  }
}

/// The result of reading some bytes: the whole requests in them, or a refusal.
enum Reading: Equatable {
  case requests([ReadRequest])
  case refused(TransportRefusal, status: Int)

  /// Reads pieces one after another, as a connection does.
  init(_ pieces: [[UInt8]], headBytesMax: Int = 1_024, bodyBytesMax: Int = 1_024) {
    let parser = HTTPParser(headBytesMax: headBytesMax, bodyBytesMax: bodyBytesMax)
    do throws(HTTPRefusal) {
      self = .requests(try parser.read(pieces))
    } catch {
      self = .refused(error.kind, status: error.response(TransportOptions()).status)
    }
  }

  /// Reads a text in one piece.
  init(_ text: String, headBytesMax: Int = 1_024, bodyBytesMax: Int = 1_024) {
    self.init([Array(text.utf8)], headBytesMax: headBytesMax, bodyBytesMax: bodyBytesMax)
  }

  /// A refusal with 400.
  static let malformed = Reading.refused(.malformedRequest, status: 400)
}

extension HTTPParser {
  fileprivate func read(_ pieces: [[UInt8]]) throws(HTTPRefusal) -> [ReadRequest] {
    var input: [UInt8] = []
    var requests: [ReadRequest] = []
    for piece in pieces {
      input += piece
      while !input.isEmpty {
        consume(from: &input)
        try check()
        guard isComplete else { continue }
        requests.append(ReadRequest(self))
        restart()
      }
    }
    return requests
  }
}

/// The head of a request, checked; nil when it is not whole.
func head(of request: String) throws(HTTPRefusal) -> HTTPHead? {
  let parser = HTTPParser(headBytesMax: 4_096, bodyBytesMax: 4_096)
  var input = Array(request.utf8)
  parser.consume(from: &input)
  let head = parser.isHeadComplete ? try HTTPHead(parser) : nil
  try parser.check()
  return head
}

/// The status with which a request's head is refused; nil when it is not.
func refusedStatus(of request: String) -> Int? {
  do throws(HTTPRefusal) {
    _ = try head(of: request)
    return nil
  } catch {
    return error.response(TransportOptions()).status
  }
}

/// A request without a body, of a first line and fields.
func request(_ line: String, _ fields: [String] = ["Host: show.example"]) -> String {
  ([line] + fields).map { "\($0)\r\n" }.joined() + "\r\n"
}

/// A GET of a path, with fields beside the Host.
func get(_ target: String, _ fields: String...) -> String {
  request("GET \(target) HTTP/1.1", ["Host: show.example"] + fields)
}
