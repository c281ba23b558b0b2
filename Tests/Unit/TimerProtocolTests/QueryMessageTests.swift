import Testing
import TimerCore

@testable import TimerProtocol

@Suite struct `A request in a URL's query` {
  private func read(
    _ command: String, _ query: [(String, String)]
  ) throws(MalformedMessage) -> ClientRequest {
    try ClientMessage(
      command: command, timer: "tea", fields: [], query: query.map { (name: $0.0, value: $0.1) }
    ).request
  }

  private func refusal(_ command: String, _ query: [(String, String)]) -> ErrorCode? {
    do throws(MalformedMessage) {
      _ = try read(command, query)
      return nil
    } catch {
      return error.error.code
    }
  }

  @Test func `has the fields that a message has`() throws {
    #expect(
      try read(
        "start",
        [
          ("duration", "90.5"), ("type", "timer"), ("atZero", "finish"), ("title", "12"),
          ("warnings", "60,10"), ("force", "true"), ("ifRevision", "3"), ("at", "1764480000.25"),
          ("requestId", "r"),
        ])
        == request(
          #"""
          {"command":"start","timer":"tea","duration":90.5,"type":"timer","atZero":"finish","title":"12",
          "warnings":[60,10],"force":true,"ifRevision":3,"at":1764480000.25,"requestId":"r"}
          """#))
  }

  @Test func `may be a message, a signal or a lap`() throws {
    #expect(
      try read("message", [("text", "12"), ("at", "1764480000.25")])
        == request(#"{"command":"message","timer":"tea","text":"12","at":1764480000.25}"#))
    #expect(
      try read("message", [("text", "")])
        == request(#"{"command":"message","timer":"tea","text":""}"#))
    #expect(
      try read("signal", [("signal", "none")])
        == request(#"{"command":"signal","timer":"tea","signal":"none"}"#))
    #expect(try read("lap", []) == request(#"{"command":"lap","timer":"tea"}"#))
  }

  @Test func `may have no warnings`() throws {
    #expect(
      try read("update", [("warnings", "")])
        == request(#"{"command":"update","timer":"tea","warnings":[]}"#))
  }

  @Test(arguments: [
    ("start", [("duration", "")]), ("start", [("duration", "five")]),
    ("start", [("duration", "1 2")]),
    ("start", [("duration", "\"5\"")]), ("start", [("duration", "NaN")]),
    ("start", [("duration", "0x5")]), ("start", [("force", "1")]), ("start", [("force", "")]),
    ("start", [("force", "TRUE")]), ("update", [("warnings", "60,")]),
    ("update", [("warnings", ",")]),
    ("update", [("warnings", "[60]")]), ("pause", [("duration", "5")]), ("pause", [("oops", "5")]),
    ("pause", [("timer", "other")]), ("pause", [("command", "remove")]),
    ("finish", [("resetTime", "true"), ("resetTime", "true")]),
  ])
  func `is refused when it makes no sense`(_ command: String, _ query: [(String, String)]) {
    #expect(refusal(command, query) == .badRequest)
  }

  @Test(arguments: [("-1", ErrorCode.outOfRange), ("0", .outOfRange), ("1e999", .outOfRange)])
  func `has the bounds that a message has`(_ duration: String, _ code: ErrorCode) {
    #expect(refusal("start", [("duration", duration)]) == code)
  }
}

@Suite struct `The name of a command` {
  @Test(arguments: [
    "start", "update", "pause", "resume", "finish", "finishAll", "reset", "addRemainingTime",
    "addElapsedTime", "lap", "message", "signal", "remove",
  ])
  func `is recognized as a change`(_ name: String) {
    #expect(ClientRequest.isChange(command: name))
  }

  @Test(arguments: ["get", "list", "subscribe", "unsubscribe", "sync", "authenticate", "", "Start"])
  func `is recognized as no change`(_ name: String) {
    #expect(!ClientRequest.isChange(command: name))
  }
}
