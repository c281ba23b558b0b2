import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

/// Each command that changes timers, with the fields that it needs.
private let changes: [(command: String, fields: String)] = [
  ("start", #""duration":5,"force":true"#), ("update", #""title":"x""#), ("pause", ""),
  ("resume", ""),
  ("finish", ""), ("reset", ""), ("addRemainingTime", #""seconds":5"#),
  ("addElapsedTime", #""seconds":5"#), ("lap", ""), ("message", #""text":"x""#),
  ("signal", #""signal":"flash""#), ("remove", ""), ("finishAll", ""),
]

@Suite struct `A token with the role view` {
  private func isUntouched(_ bench: inout HubBench) -> Bool {
    let states = bench.ask(#"{"command":"list"}"#, token: "stage").timers
    return states.map { $0.status } == ["running", "running", "running"]
      && states.allSatisfy { $0.text("title") == "" && $0.number("duration") == 300 }
      && states.allSatisfy { !$0.has("message") && !$0.has("signal") }
  }

  @Test(arguments: changes)
  func `changes nothing by a message`(_ change: (command: String, fields: String)) {
    var bench = HubBench.withTokens()
    let timer = change.command == "finishAll" ? "" : #","timer":"stage""#
    let fields = change.fields.isEmpty ? "" : "," + change.fields

    let reply = bench.ask(#"{"command":"\#(change.command)"\#(timer)\#(fields)}"#, token: "wall")

    #expect(reply.code == "forbidden")
    #expect(reply.timer == nil)
    #expect(isUntouched(&bench))
  }

  @Test(arguments: changes)
  func `changes nothing by POST`(_ change: (command: String, fields: String)) {
    var bench = HubBench.withTokens()
    let timer = change.command == "finishAll" ? "*" : "stage"

    let response = bench.http(
      "POST", "/api/timers/\(timer)/\(change.command)", headers: bearer("wall"),
      body: "{\(change.fields)}")

    #expect(response.status == 403)
    #expect(isUntouched(&bench))
  }

  @Test(arguments: changes)
  func `changes nothing by GET`(_ change: (command: String, fields: String)) {
    var bench = HubBench.withTokens { $0.allowsGet = true }
    let timer = change.command == "finishAll" ? "*" : "stage"
    var query = [QueryItem("token", "secret-wall")]
    switch change.command {
    case "start": query.append(QueryItem("duration", "5"))
    case "update": query.append(QueryItem("title", "x"))
    case "message": query.append(QueryItem("text", "x"))
    case "signal": query.append(QueryItem("signal", "flash"))
    case "addRemainingTime", "addElapsedTime": query.append(QueryItem("seconds", "5"))
    default: break
    }

    let response = bench.http("GET", "/api/timers/\(timer)/\(change.command)", query: query)

    #expect(response.status == 403)
    #expect(isUntouched(&bench))
  }

  @Test func `forgets nothing by DELETE`() {
    var bench = HubBench.withTokens()

    #expect(bench.http("DELETE", "/api/timers/stage", headers: bearer("wall")).status == 403)
    #expect(isUntouched(&bench))
  }

  @Test(arguments: [
    #"{"command":"get","timer":"stage"}"#, #"{"command":"list"}"#, #"{"command":"sync"}"#,
    #"{"command":"subscribe","timers":"*"}"#, #"{"command":"unsubscribe","timers":"*"}"#,
  ])
  func `may read`(_ json: String) {
    var bench = HubBench.withTokens()
    let connection = bench.connect(token: "wall")

    bench.send(json, from: connection)

    #expect(bench.messages(to: connection).contains { $0.isOK == true })
  }
}

@Suite struct `A visitor without a token` {
  @Test func `may do everything while there are none`() {
    var bench = HubBench.make { _ in }

    #expect(bench.messages(to: bench.connect()).first?.text("role") == "control")
    #expect(bench.ask(#"{"command":"start","timer":"tea","duration":5}"#).isOK == true)
  }

  @Test func `may do nothing once there is a file of them, even an empty one`() {
    var bench = HubBench.withTokens(TokenTable())

    #expect(bench.messages(to: bench.connect()).first?.text("role") == "none")
    #expect(bench.ask(#"{"command":"list"}"#).code == "unauthorized")
  }

  @Test(arguments: [
    #"{"id":1,"command":"get","timer":"stage"}"#, #"{"id":1,"command":"get","timer":"nothing"}"#,
    #"{"id":1,"command":"list"}"#, #"{"id":1,"command":"subscribe","timer":"stage"}"#,
    #"{"id":1,"command":"unsubscribe","timer":"stage"}"#, #"{"id":1,"command":"finishAll"}"#,
    #"{"id":1,"command":"start","timer":"new"}"#, #"{"id":1,"command":"remove","timer":"stage"}"#,
  ])
  func `with the role none may nothing`(_ json: String) {
    var bench = HubBench.withTokens()
    let connection = bench.connect()

    bench.send(json, from: connection)
    bench.store()
    bench.advance(2)

    #expect(bench.heard(by: connection) == ["hello", "unauthorized 1"])
  }

  @Test func `with the role none receives nothing for its URL`() {
    var bench = HubBench.withTokens()

    let connection = bench.connect([QueryItem("timer", "*")])
    bench.advance(2)

    #expect(bench.heard(by: connection) == ["hello", "unauthorized null"])
  }

  @Test func `with the role none is shown no state beside an error`() {
    var bench = HubBench.withTokens()
    let connection = bench.connect()

    bench.send(#"{"command":"pause","timer":"stage","oops":1}"#, from: connection)

    let reply = bench.messages(to: connection).last
    #expect(reply?.code == "badRequest")
    #expect(reply?.timer == nil)
    let response = bench.http("POST", "/api/timers/stage/pause", body: #"{"oops":1}"#)
    #expect(Message(response.body).timer == nil)
  }

  @Test func `with the role none may exchange clocks`() {
    var bench = HubBench.withTokens()

    #expect(bench.ask(#"{"command":"sync"}"#).isOK == true)
  }

  @Test func `may read with --anonymous view`() {
    var bench = HubBench.withTokens(anonymous: .view)

    #expect(bench.ask(#"{"command":"get","timer":"stage"}"#).isOK == true)
    #expect(bench.ask(#"{"command":"pause","timer":"stage"}"#).code == "forbidden")
  }
}
