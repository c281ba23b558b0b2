import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `The tally of refusals` {
  private let start: Instant = 1_764_480_000

  private func texts(_ lines: [LogLine]) -> [String] { lines.map(\.text) }

  @Test func `logs the first at once, and the rest at the end of the minute`() {
    var tally = RefusalTally()
    let reason = RefusalReason.access(.host("Timer.Example:8080"))

    let first = tally.add(reason)
    #expect(tally.linesDue(at: start).isEmpty)
    let later = (1...13).map { _ in tally.add(reason) }

    let advice =
      "refused for the Host \"timer.example\"; if that is this server, start it with --host timer.example to allow it"
    #expect(first == LogLine(level: .warning, text: "a request was \(advice)"))
    #expect(later == Array(repeating: nil, count: 13))
    #expect(tally.linesDue(at: start + 59).isEmpty)
    #expect(
      texts(tally.linesDue(at: start + 60)) == ["14 requests in the last minute were \(advice)"])
    #expect(tally.linesDue(at: start + 120).isEmpty)
  }

  @Test func `goes on by the minute, and begins anew after a quiet one`() {
    var tally = RefusalTally()
    let reason = RefusalReason.transport(.messageTooLong)
    _ = tally.add(reason)
    _ = tally.linesDue(at: start)
    _ = tally.add(reason)
    #expect(tally.linesDue(at: start + 60).count == 1)

    let again = tally.add(reason)
    let second = tally.linesDue(at: start + 120)
    let quiet = tally.linesDue(at: start + 180)
    let afterwards = tally.add(reason)

    #expect(again == nil)
    #expect(
      texts(second) == [
        "1 connection in the last minute was refused for too long a message; --message-bytes COUNT allows more"
      ])
    #expect(quiet.isEmpty)
    #expect(afterwards != nil)
  }

  @Test func `says nothing twice when there was but one`() {
    var tally = RefusalTally()
    _ = tally.add(.noToken)
    _ = tally.linesDue(at: start)

    #expect(tally.linesDue(at: start + 61).isEmpty)
    #expect(tally.collect().isEmpty)
  }

  @Test func `counts eight names of a kind separately, and all others together`() {
    var tally = RefusalTally()

    let hosts = (0..<1_000).compactMap { tally.add(.access(.host("a\($0).example"))) }
    let origins = (0..<20).compactMap { tally.add(.access(.origin("https://o\($0).example"))) }
    let other = tally.add(.addressRate)

    #expect(hosts.count == 8)
    #expect(origins.count == 8)
    #expect(other != nil)
    let lines = texts(tally.collect())
    #expect(
      lines == [
        "992 requests in the last minute were refused for other Hosts; --host NAME adds a name of this server",
        "12 requests in the last minute were refused for other Origins; --origin ORIGIN allows another site's pages",
      ])
  }

  @Test func `takes one name with many ports for one`() {
    var tally = RefusalTally()

    let lines = (1...100).compactMap { tally.add(.access(.host("a.example:\($0)"))) }

    #expect(lines.count == 1)
    #expect(texts(tally.collect()).first?.hasPrefix("100 requests ") == true)
  }

  @Test(arguments: [
    "evil\"; rm -rf /", "a\\\"b", String(repeating: "x", count: 10_000), "\u{202e}evil", "a\nb",
    String(repeating: "é", count: 100), String(repeating: "\"", count: 100), "",
  ])
  func `quotes what clients send, and gives no advice by it`(_ field: String) throws {
    for refusal in [AccessRefusal.host(field), .origin(field)] {
      var tally = RefusalTally()
      let first = tally.add(.access(refusal))
      let line = try #require(first).text

      #expect(!line.contains("--host") && !line.contains("--origin"))
      #expect(line.utf8.count < 200)
      #expect(!line.unicodeScalars.contains { $0 == "\u{202e}" || $0 == "\n" })
      // Between the first quote and the last there is none that isn't marked.
      let quoted = try #require(line.firstIndex(of: "\""))
      let inner = line[line.index(after: quoted)...].dropLast(" , which is not a host name".count)
      #expect(
        !inner.replacing("\\\\", with: "").replacing("\\\"", with: "").dropLast(2).contains("\""))
    }
  }

  @Test(arguments: [
    ("https://Show.Example:443", "--origin https://show.example"), ("null", "--origin null"),
    ("tauri://localhost", "--origin tauri://localhost"), ("file://", "--origin file://"),
  ])
  func `names the option that lets an origin in`(_ field: String, _ option: String) throws {
    var tally = RefusalTally()

    let line = tally.add(.access(.origin(field)))

    #expect(try #require(line).text.contains(" \(option) to allow them"))
    var rules = AccessRules()
    let isTaken = rules.addOrigin(String(option.dropFirst("--origin ".count)))
    #expect(isTaken)
  }

  @Test(arguments: TransportRefusal.allCases)
  func `has words for whatever the transport refuses`(_ refusal: TransportRefusal) throws {
    var tally = RefusalTally()

    let first = tally.add(.transport(refusal))

    let line = try #require(first)
    #expect(line.level == .info || line.text.contains("--") || refusal == .binaryMessage)
  }
}

@Suite struct `A refusal of the hub` {
  @Test func `is logged with the option that would allow it`() {
    var bench = HubBench.make { $0.httpRequests.perSecond = 1 }
    _ = bench.http("GET", "/api/timers", headers: ["host": "timer.example"])
    _ = bench.http("POST", "/api/timers/tea/start", headers: ["origin": "https://show.example"])
    for _ in 1...6 { _ = bench.http("GET", "/api/timers") }

    #expect(
      bench.refusals == [
        .access(.host("timer.example")), .access(.origin("https://show.example")), .addressRate,
      ])
  }

  @Test func `for a missing token is logged, and for a wrong one separately`() {
    var bench = HubBench.withTokens { $0.allowsGet = true }
    let visitor = bench.connect([QueryItem("timer", "stage")])
    bench.send(#"{"command":"start"}"#, from: visitor)
    bench.send(#"{"command":"list"}"#, from: visitor)
    _ = bench.http("GET", "/api/timers")
    _ = bench.http("GET", "/api/timers/stage/pause")
    #expect(bench.refusals == Array(repeating: .noToken, count: 5))

    _ = bench.http("GET", "/api/timers", headers: bearer("nobody"))
    _ = bench.connect(token: "nobody")
    bench.send(#"{"command":"authenticate","token":"nobody"}"#, from: visitor)

    #expect(bench.refusals.dropFirst(5) == [.wrongToken, .wrongToken, .wrongToken])
  }

  @Test func `for a limit of the hub is logged`() {
    var bench = HubBench.make {
      $0.timersMax = 1
      $0.subscriptionsMax = 1
      $0.requests.perSecond = 1
    }
    let connection = bench.connect([QueryItem("timer", "a"), QueryItem("timer", "b")])
    bench.send(#"{"command":"start","timer":"a"}"#, from: connection)
    bench.store()
    bench.send(#"{"command":"start","timer":"b"}"#, from: connection)
    for _ in 1...4 { bench.send(#"{"command":"sync"}"#, from: connection) }

    #expect(bench.refusals == [.tooManySubscriptions, .tooManyTimers, .connectionRate])
  }

  @Test func `of a change by GET is logged, of an unknown timer not`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"stage/lap"}"#)
    for path in ["stage/pause", "tea/start", "stage", "stage/lap", "stage/paws"] {
      _ = bench.http("GET", "/api/timers/\(path)")
    }

    #expect(bench.refusals == [.getNotAllowed, .getNotAllowed])
  }

  @Test func `for a visitor's role is not logged`() {
    var bench = HubBench.make(role: .view)

    #expect(bench.http("POST", "/api/timers/tea/start").status == 403)
    #expect(bench.refusals.isEmpty)
  }
}
