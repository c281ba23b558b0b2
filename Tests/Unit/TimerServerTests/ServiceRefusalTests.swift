import Foundation
import Testing
import WebSocketTransport

@testable import TimerServer

@Suite struct `A refusal by the transport` {
  @Test(arguments: [
    (ServiceRefusal.unreadable("the query is not UTF-8"), 400, "badRequest", false),
    (.bodyTooLong(bytesMax: 9), 413, "badRequest", false), (.stopping, 503, "shuttingDown", true),
  ])
  func `has the shape of a reply`(
    refusal: ServiceRefusal, status: Int, code: String, isRetryable: Bool
  ) throws {
    let answer = refusal.response

    #expect(answer.status == status)
    #expect(answer.contentType == "application/json; charset=utf-8")
    #expect(answer.headers.contains(HTTPHeader("Cache-Control", "no-store")))
    let object = try JSONSerialization.jsonObject(with: Data(answer.body))
    let reply = try #require(object as? [String: Any])
    #expect(Set(reply.keys) == ["reply", "ok", "error"])
    #expect(reply["reply"] is NSNull)
    #expect(reply["ok"] as? Bool == false)
    let error = try #require(reply["error"] as? [String: Any])
    #expect(error["code"] as? String == code)
    #expect(error["message"] as? String == refusal.message)
    #expect(error["retryable"] as? Bool == isRetryable)
  }

  @Test func `is the same to the byte as ever`() {
    let expected =
      #"{"reply":null,"ok":false,"error":{"code":"badRequest","message":"the body is over 9 bytes","#
      + #""retryable":false}}"#

    let body = ServiceRefusal.bodyTooLong(bytesMax: 9).response.body

    #expect(String(decoding: body, as: UTF8.self) == expected)
  }
}
