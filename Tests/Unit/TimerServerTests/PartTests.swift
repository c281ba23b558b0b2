import Testing
import TimerCore
import TimerProtocol
import WebSocketTransport

@testable import TimerServer

@Suite struct `A subscription in parts` {
  /// Full sets of about 120 kB.
  private static let count = 200

  private func bench(_ count: Int = count) -> HubBench {
    var bench = HubBench.make { $0.timersMax = 1_000 }
    let title = String(repeating: "<", count: 256)
    for number in 0..<count {
      bench.ask(
        #"{"command":"start","timer":"t\#(number)","duration":300,"title":"\#(title)"}"#)
    }
    return bench
  }

  private func expectParts(_ messages: [Message], _ cause: String) {
    let parts = messages.first?["parts"] as? Int ?? 0
    #expect(parts > 1)
    #expect(messages.map { $0["part"] as? Int } == (1...max(1, parts)).map { $0 })
    #expect(messages.allSatisfy { $0["parts"] as? Int == parts })
    #expect(
      messages.map(\.cause) == [cause] + Array(repeating: "continued", count: max(0, parts - 1)))
    let names = messages.flatMap(\.timers).compactMap { $0.text("timer") }
    #expect(Set(names).count == Self.count)
    #expect(names == names.sorted())
  }

  @Test func `gets a long full set as several messages`() {
    var bench = bench()
    let connection = bench.connect()
    _ = bench.messages(to: connection)

    bench.send(
      #"{"id":1,"command":"subscribe","timers":"*","parts":true}"#, from: connection)

    let messages = bench.messages(to: connection)
    #expect(messages.first?.description == "ok 1")
    expectParts(Array(messages.dropFirst()), "subscribed")
  }

  @Test func `may be the URL's, and one to many names`() {
    var bench = bench()
    let names = (0..<Self.count).map { QueryItem("timer", "t\($0)") }

    for query in [[QueryItem("timer", "*")], names] {
      let connection = bench.connect(query + [QueryItem("parts", "1")])
      expectParts(Array(bench.messages(to: connection).dropFirst()), "subscribed")
    }
  }

  @Test func `gets long ticks so, and others get them as one`() {
    var bench = bench()
    let inParts = bench.connect([QueryItem("timer", "*"), QueryItem("parts", "1")])
    let whole = bench.subscriber(to: "*", every: "1")
    _ = bench.messages(to: inParts)

    bench.advance(1)

    let parts = bench.messages(to: inParts)
    let one = bench.messages(to: whole)
    expectParts(parts, "tick")
    #expect(parts.flatMap(\.timers).allSatisfy { !$0.has("run") })
    #expect(Set(parts.map(\.frameKey)).count == 1)
    #expect(parts.first?.frameKey != nil)
    #expect(one.map(\.cause) == ["tick"])
    #expect(one.first?.timers.count == Self.count)
    #expect(one.first?.has("part") == false)
  }

  @Test func `ends with another subscription that does not ask for it`() {
    var bench = bench()
    let connection = bench.connect([QueryItem("timer", "*"), QueryItem("parts", "1")])
    bench.send(#"{"id":1,"command":"subscribe","timers":"*","parts":false}"#, from: connection)
    _ = bench.messages(to: connection)

    bench.advance(1)

    #expect(bench.messages(to: connection).map(\.cause) == ["tick"])
  }

  @Test func `gets what is short as ever`() {
    var bench = bench(3)
    let connection = bench.connect([QueryItem("timer", "*"), QueryItem("parts", "1")])

    bench.advance(1)

    let messages = bench.messages(to: connection).dropFirst()
    #expect(messages.map(\.cause) == ["subscribed", "tick"])
    #expect(messages.allSatisfy { !$0.has("part") && !$0.has("parts") && $0.timers.count == 3 })
  }

  @Test func `gets an empty set as one`() {
    var bench = HubBench.make()

    let connection = bench.connect([QueryItem("timer", "*"), QueryItem("parts", "1")])

    #expect(bench.heard(by: connection) == ["hello", "subscribed"])
  }

  @Test(arguments: ["2", "", "true"])
  func `is asked for by 1 in the URL`(_ value: String) {
    var bench = HubBench.make()

    let connection = bench.connect([QueryItem("timer", "*"), QueryItem("parts", value)])

    #expect(bench.heard(by: connection) == ["hello", "badRequest null"])
  }

  @Test(arguments: [60_000, 20_000, 1_000])
  func `has parts of at most so many bytes`(_ bytesMax: Int) {
    let settings = TimerSettings(type: .stopwatch)
    let timers = (0..<500).compactMap { number in
      TimerID("t\(number)").map {
        TimerReading(SharedTimer(id: $0, settings: settings, changedAt: 5), at: 1_764_480_000)
      }
    }

    let parts = ServerMessage.parts(of: .subscribed, timers, bytesMax: bytesMax)

    #expect(timers.count == 500)
    #expect(parts.allSatisfy { $0.count <= bytesMax })
    #expect(parts.map { Message($0) }.flatMap(\.timers).count == 500)
    #expect(parts.count < 500 * 400 / bytesMax * 2 + 2)
  }
}

@Suite struct `A page of the list` {
  private func bench() -> HubBench {
    var bench = HubBench.withTokens(anonymous: .control)
    for name in ["a", "b", "é"] { bench.start(name) }
    return bench
  }

  private func page(_ fields: String, _ bench: inout HubBench) -> Message {
    bench.ask(#"{"command":"list"\#(fields)}"#)
  }

  private func names(_ message: Message) -> [String] {
    message.timers.compactMap { $0.text("timer") }
  }

  @Test func `has so many, and says where the next one begins`() {
    var bench = bench()

    let first = page(#","limit":4"#, &bench)
    let second = page(#","limit":4,"after":"kitchen 2""#, &bench)

    #expect(names(first) == ["a", "b", "kitchen", "kitchen 2"])
    #expect(first.text("next") == "kitchen 2")
    #expect(names(second) == ["stage", "é"])
    #expect(!second.has("next"))
  }

  @Test func `needs no timer of the name that it comes after`() {
    var bench = bench()

    #expect(names(page(#","after":"kitchen 1""#, &bench)) == ["kitchen 2", "stage", "é"])
    #expect(names(page(#","after":"zz""#, &bench)) == ["é"])
    #expect(names(page(#","after":"éé""#, &bench)) == [])
    #expect(names(page(#","limit":10000"#, &bench)).count == 6)
    #expect(!page(#","limit":6"#, &bench).has("next"))
  }

  @Test func `follows timers that come and go`() {
    var bench = bench()
    bench.ask(#"{"command":"remove","timer":"b"}"#)
    bench.start("c")

    #expect(names(page(#","limit":2"#, &bench)) == ["a", "c"])
    #expect(
      names(bench.ask(#"{"command":"list"}"#)) == ["a", "c", "kitchen", "kitchen 2", "stage", "é"])
  }

  @Test func `shows no more than a token may see`() {
    var bench = bench()
    let guest = bench.connect(token: "guest")
    bench.send(#"{"command":"list","limit":1}"#, from: guest)
    bench.send(#"{"command":"list","limit":1,"after":"kitchen"}"#, from: guest)

    let pages = bench.messages(to: guest).filter(\.isReply)

    #expect(pages.map(names) == [["kitchen"], ["kitchen 2"]])
    #expect(pages.map { $0.text("next") } == ["kitchen", nil])
  }

  @Test(arguments: [
    (#","limit":0"#, "outOfRange", 1.0), (#","limit":10001"#, "outOfRange", 10_000),
    (#","limit":1e300"#, "outOfRange", 10_000), (#","limit":1.5"#, "badRequest", nil),
    (#","limit":"5""#, "badRequest", nil), (#","after":"*""#, "badRequest", nil),
    (#","after":"""#, "badRequest", nil), (#","after":5"#, "badRequest", nil),
  ])
  func `is refused where it makes no sense`(_ fields: String, _ code: String, _ limit: Double?) {
    var bench = bench()

    let reply = page(fields, &bench)

    #expect(reply.code == code)
    #expect(reply.error?.number("limit") == limit)
  }

  @Test func `is had by HTTP too`() {
    var bench = bench()
    func get(_ query: [QueryItem]) -> HTTPResponse {
      bench.http("GET", "/api/timers", query: query)
    }

    let first = Message(get([QueryItem("limit", "1"), QueryItem("after", "b")]).body)

    #expect(names(first) == ["kitchen"])
    #expect(first.text("next") == "kitchen")
    #expect(get([QueryItem("limit", "0")]).status == 400)
    #expect(get([QueryItem("limit", "1"), QueryItem("limit", "1")]).status == 400)
    #expect(names(Message(get([QueryItem("after", "stage")]).body)) == ["é"])
    #expect(!Message(get([]).body).has("next"))
  }
}
