import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer
@testable import TimerStorage

extension HubBench {
  /// The query value for a client that has followed this server up to a revision.
  fileprivate func point(_ revision: Int) -> String { "\(Self.history):\(revision)" }

  /// A client that comes back and sends the point up to which it had followed the server.
  fileprivate mutating func returning(since: String, to timer: String = "tea") -> ConnectionID {
    connect([
      QueryItem("timer", timer), QueryItem("interval", "0"), QueryItem("since", since),
    ])
  }

  fileprivate mutating func ends(heardBy connection: ConnectionID) -> [Double] {
    messages(to: connection).filter { $0.cause == "ended" }.compactMap { $0.number("endedAt") }
  }
}

@Suite struct `A client that reconnects with since` {
  private func startedAndLeft(
    _ fields: String = #""duration":5"#
  ) throws -> (bench: HubBench, revision: Int) {
    var bench = HubBench.make()
    let reply = bench.ask(#"{"command":"start","timer":"tea",\#(fields)}"#)
    return (bench, try #require(reply.timer?.revision))
  }

  @Test(arguments: ["tea", "*"])
  func `is sent the end that it missed, late and once`(_ subscription: String) throws {
    var (bench, revision) = try startedAndLeft()
    bench.advance(100)

    let client = bench.returning(since: bench.point(revision), to: subscription)
    let messages = bench.messages(to: client)

    #expect(
      messages.map(\.description) == [
        "hello", "subscribed tea -95", "restored tea -95", "ended tea -95",
      ])
    #expect(messages.last?.number("endedAt") == 1_764_480_005.25)
    #expect(messages.last?["late"] as? Bool == true)
  }

  @Test func `is sent nothing that it has received`() throws {
    var (bench, _) = try startedAndLeft()
    let witness = bench.subscriber()
    bench.advance(100)
    let heard = try #require(bench.messages(to: witness).last?.timers.first?.revision)

    let client = bench.returning(since: bench.point(heard))

    #expect(bench.ends(heardBy: client) == [])
  }

  @Test func `is sent what it missed over restarts too, once`() throws {
    var (bench, revision) = try startedAndLeft()
    bench.advance(3)
    var second = bench.restarted(after: 10)
    second.store()
    var third = second.restarted(after: 3)
    third.store()

    let client = third.returning(since: third.point(revision))
    let again = third.messages(to: client)

    #expect(again.count { $0.cause == "ended" } == 1)
    let last = try #require(again.last?.timers.first?.revision)
    let later = third.returning(since: third.point(last))
    #expect(third.ends(heardBy: later) == [])
  }

  @Test func `is sent each end of several runs, and not one of a timer that is gone`() throws {
    var (bench, revision) = try startedAndLeft()
    bench.advance(6)
    bench.ask(#"{"command":"start","timer":"tea","duration":5,"force":true}"#)
    bench.ask(#"{"command":"start","timer":"oven","duration":1}"#)
    bench.advance(10)
    bench.ask(#"{"command":"remove","timer":"oven"}"#)

    let client = bench.returning(since: bench.point(revision), to: "*")

    #expect(bench.ends(heardBy: client) == [1_764_480_005.25, 1_764_480_011.25])
  }

  @Test func `is sent the last sixteen of a countdown that repeats`() throws {
    var (bench, revision) = try startedAndLeft(#""duration":1,"atZero":"repeat""#)
    bench.advance(40)

    let client = bench.returning(since: bench.point(revision))

    #expect(bench.ends(heardBy: client) == (25...40).map { 1_764_480_000.25 + Double($0) })
  }

  @Test(arguments: ["another:1", "history-1:999999"])
  func `is sent the full set alone when that is not what it followed`(_ since: String) throws {
    var (bench, _) = try startedAndLeft()
    bench.advance(100)

    let client = bench.returning(since: since)

    #expect(bench.heard(by: client) == ["hello", "subscribed tea -95"])
  }

  @Test(arguments: ["", "history-1", "history-1:", ":4", "history-1:x", "history-1:-4", "h:1.5"])
  func `gets an error that names the right form when since can't be parsed`(_ since: String) {
    var bench = HubBench.make()

    let client = bench.returning(since: since)
    let error = bench.messages(to: client).last

    #expect(error?.code == "badRequest")
    #expect(error?.error?.text("message")?.contains("HISTORY:REVISION") == true)
  }

  @Test func `is not sent again what it receives live`() throws {
    var (bench, revision) = try startedAndLeft()
    bench.jump(5)
    let client = bench.returning(since: bench.point(revision))
    let early = bench.ends(heardBy: client)

    bench.store()

    #expect(early == [])
    #expect(bench.ends(heardBy: client) == [1_764_480_005.25])
  }

  @Test func `is not sent an end again when it subscribes anew after a restart`() throws {
    var (bench, revision) = try startedAndLeft()
    bench.advance(3)
    var restarted = bench.restarted(after: 10)
    restarted.store()

    let client = restarted.returning(since: restarted.point(revision))
    let first = restarted.ends(heardBy: client)
    restarted.send(#"{"command":"subscribe","timer":"tea","interval":2}"#, from: client)

    #expect(first.count == 1)
    #expect(restarted.ends(heardBy: client) == [])
  }

  @Test func `can say so in a request`() throws {
    var (bench, revision) = try startedAndLeft()
    bench.advance(100)
    let client = bench.connect()

    bench.send(
      #"{"id":1,"command":"subscribe","timers":["tea"],"since":"\#(bench.point(revision))"}"#,
      from: client)

    #expect(bench.ends(heardBy: client) == [1_764_480_005.25])
  }

  @Test func `receives the history and the newest revision in hello`() throws {
    var (bench, revision) = try startedAndLeft()
    let client = bench.connect()

    let hello = bench.messages(to: client).first

    #expect(hello?.text("history") == HubBench.history)
    #expect(hello?["revision"] as? Int == revision)
  }
}

@Suite struct `A connection that subscribes again` {
  private func ended() -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.advance(100)
    return bench
  }

  private func subscribe(_ timers: String, since: String? = nil) -> String {
    let since = since.map { #","since":"\#($0)""# } ?? ""
    return #"{"id":1,"command":"subscribe","timers":\#(timers),"interval":0\#(since)}"#
  }

  @Test(arguments: [
    (#""*""#, #"["tea"]"#), (#"["tea"]"#, #""*""#), (#"["tea"]"#, #"["tea"]"#),
    (#""*""#, #""*""#),
  ])
  func `is sent each end once, whatever it says`(_ first: String, _ second: String) {
    var bench = ended()
    let client = bench.connect()

    bench.send(subscribe(first, since: bench.point(1)), from: client)
    bench.send(subscribe(second, since: bench.point(1)), from: client)

    #expect(bench.ends(heardBy: client) == [1_764_480_005.25])
  }

  @Test func `is sent no end that it received live`() {
    var bench = HubBench.make()
    let client = bench.subscriber(to: "*")
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.advance(100)
    #expect(bench.ends(heardBy: client).count == 1)

    bench.send(#"{"id":1,"command":"unsubscribe","timers":"*"}"#, from: client)
    bench.send(subscribe(#"["tea"]"#, since: bench.point(0)), from: client)

    #expect(bench.ends(heardBy: client) == [])
  }

  @Test func `is sent what happened while it was not subscribed`() {
    var bench = ended()
    let client = bench.connect()
    bench.send(subscribe(#""*""#, since: bench.point(1)), from: client)
    bench.send(#"{"id":1,"command":"unsubscribe","timers":"*"}"#, from: client)
    _ = bench.heard(by: client)
    bench.ask(#"{"command":"start","timer":"tea","duration":5,"force":true}"#)
    bench.advance(10)

    bench.send(subscribe(#"["tea"]"#, since: bench.point(1)), from: client)

    #expect(bench.ends(heardBy: client) == [1_764_480_105.25])
  }

  @Test func `of another history is sent no late end either`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    var restarted = bench.restarted(after: 10)
    restarted.store()

    let client = restarted.returning(since: "another:1")
    #expect(restarted.ends(heardBy: client) == [])
    let other = restarted.connect([QueryItem("timer", "tea")])
    #expect(restarted.ends(heardBy: other).count == 1)
  }
}

@Suite struct `A change that the disk refused` {
  @Test(arguments: ["remove", "finish"])
  func `rolls back no end and no other named change`(_ command: String) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5,"requestId":"a"}"#)
    bench.advance(10)
    let client = bench.connect()
    bench.send(#"{"id":1,"command":"\#(command)","timer":"tea","requestId":"b"}"#, from: client)
    bench.failStore()

    let back = bench.returning(since: bench.point(1))
    #expect(bench.ends(heardBy: back) == [1_764_480_005.25])

    bench.ask(#"{"command":"update","timer":"tea","title":"x"}"#)
    let record = bench.records.values.first
    #expect(record?.ends.map(\.at) == [1_764_480_005.25])
    #expect(record?.answered.map(\.requestId) == ["a"])
  }

  @Test func `keeps an end available while it is under way`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    bench.advance(10)
    let client = bench.connect()
    bench.send(#"{"id":1,"command":"remove","timer":"tea"}"#, from: client)

    let back = bench.returning(since: bench.point(1))

    #expect(bench.ends(heardBy: back) == [1_764_480_005.25])
  }
}

@Suite struct `A crossing around a restart` {
  private func running() -> HubBench {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":5}"#)
    return bench
  }

  @Test func `is left to the next server while one stops`() {
    var bench = running()
    let client = bench.subscriber()
    bench.stop()
    bench.store()

    bench.advance(10)
    #expect(bench.heard(by: client) == [])
    #expect(bench.records.values.first?.timer.endedAt == nil)

    var restarted = bench.restarted(after: 1)
    restarted.store()
    let back = restarted.subscriberHearingAll()
    #expect(restarted.messages(to: back).count { $0.cause == "ended" } == 1)
  }

  @Test func `that the disk has not stored when the connections close is sent by the next server`()
  {
    var bench = running()
    _ = bench.subscriber()
    bench.jump(5)
    bench.stop()
    bench.jump(3)
    #expect(bench.isStopped)
    bench.store()

    var restarted = bench.restarted(after: 1)
    restarted.store()
    let back = restarted.subscriberHearingAll()
    let ends = restarted.messages(to: back).filter { $0.cause == "ended" }
    #expect(ends.compactMap { $0.number("endedAt") } == [1_764_480_005.25])
  }

  @Test func `that no client received is sent after another quick restart`() {
    var second = running().restarted(after: 1)
    second.jump(4.5)
    second.store()

    var third = second.restarted(after: 1)
    let back = third.subscriberHearingAll()
    let ends = third.messages(to: back).filter { $0.cause == "ended" }
    third.store()

    #expect(ends.compactMap { $0.number("endedAt") } == [1_764_480_005.25])
    var fourth = third.restarted(after: 1)
    let later = fourth.subscriberHearingAll()
    #expect(fourth.messages(to: later).count { $0.cause == "ended" } == 0)
  }

  @Test func `that a client received in the meantime is sent no more`() {
    var second = running().restarted(after: 1)
    second.jump(5)
    let witness = second.subscriberHearingAll()
    second.store()
    #expect(second.messages(to: witness).count { $0.cause == "ended" } == 1)

    var third = second.restarted(after: 1)
    let back = third.subscriberHearingAll()
    #expect(third.messages(to: back).count { $0.cause == "ended" } == 0)
  }

  @Test func `that failed at first is sent once, marked late`() {
    var second = running().restarted(after: 10)
    second.failStore()
    second.advance(5)
    let back = second.subscriberHearingAll()
    second.advance(5)

    let ends = second.messages(to: back).filter { $0.cause == "ended" }
    #expect(ends.count == 1)
    #expect(second.records.values.first?.ends.count == 1)
  }
}

extension HubBench {
  /// A new connection that is sent changes of all timers; its first messages are left to be taken.
  fileprivate mutating func subscriberHearingAll() -> ConnectionID {
    connect([QueryItem("timer", "*"), QueryItem("interval", "0")])
  }
}
