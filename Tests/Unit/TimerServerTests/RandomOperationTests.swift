import TestSupport
import Testing
import TimerCore
import WebSocketTransport

/// Many clients send random requests, to a server with a disk that refuses now and then.
private struct Crowd {
  var bench = HubBench.make()
  var random: SeededGenerator
  /// The ids that each client has sent, and the replies that it got.
  var clients: [(id: ConnectionID, sent: [String], answered: [String])] = []
  let subscriber: ConnectionID
  /// The last state of each timer that the subscriber was sent; nil: removed.
  var shown: [String: Int] = [:]
  var shownTooEarly: [Int] = []
  var shownBackwards: [Int] = []

  init(seed: UInt64) {
    random = SeededGenerator(state: seed)
    subscriber = bench.subscriber(to: "*")
    for _ in 0..<3 { clients.append((bench.connect(), [], [])) }
    listen()
  }

  mutating func act() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<10: send()
    case 10..<14: bench.store(first: Int.random(in: 1...3, using: &random))
    case 14: bench.failStore(first: Int.random(in: 1...3, using: &random))
    case 15..<18: bench.wait(Seconds(microseconds: Int64.random(in: 0..<700_000, using: &random)))
    case 18: bench.jump(Seconds(microseconds: Int64.random(in: 0..<3_000_000, using: &random)))
    default: bench.store()
    }
    listen()
  }

  mutating func finishWrites() {
    bench.advance(2)
    bench.store()
    listen()
  }

  private mutating func send() {
    let client = Int.random(in: 0..<clients.count, using: &random)
    let tag = "\(clients[client].sent.count)"
    let timer = ["a", "b", "c"].randomElement(using: &random) ?? "a"
    let request =
      [
        #""start","duration":2"#, #""start","duration":0.5,"atZero":"repeat","force":true"#,
        #""start","type":"stopwatch""#, #""start","duration":1,"atZero":"finish""#, #""pause""#,
        #""resume""#, #""finish""#, #""reset""#, #""remove""#, #""get""#,
        #""addRemainingTime","seconds":-1,"clamp":true"#, #""addRemainingTime","seconds":1"#,
        #""addElapsedTime","seconds":1"#, #""update","title":"x""#, #""finishAll""#, #""list""#,
        #""pause","requestId":"p""#, #""start","requestId":"s","force":true"#,
      ].randomElement(using: &random) ?? #""list""#
    let names = request.hasPrefix(#""finishAll"#) || request.hasPrefix(#""list"#)
    let field = names ? "" : #","timer":"\#(timer)""#
    clients[client].sent.append(tag)
    bench.send(#"{"id":\#(tag),"command":\#(request)\#(field)}"#, from: clients[client].id)
  }

  private mutating func listen() {
    for index in clients.indices {
      let replies = bench.messages(to: clients[index].id).filter { $0.isReply }
      clients[index].answered += replies.compactMap { $0["reply"].map { "\($0)" } }
    }
    for message in bench.messages(to: subscriber) {
      if let removed = message.text("timer") { shown[removed] = nil }
      for state in message.timers { record(state) }
    }
  }

  private mutating func record(_ state: Message) {
    guard let name = state.text("timer"), let revision = state.revision else { return }
    if !bench.durableRevisions.contains(revision) { shownTooEarly.append(revision) }
    if let last = shown[name], last >= revision { shownBackwards.append(revision) }
    shown[name] = revision
  }
}

@Suite struct `Many clients with a disk that fails now and then` {
  private static let seeds: ClosedRange<UInt64> = 1...12

  private func crowd(_ seed: UInt64) -> Crowd {
    var crowd = Crowd(seed: seed)
    for _ in 0..<400 { crowd.act() }
    crowd.finishWrites()
    return crowd
  }

  @Test(arguments: seeds)
  func `is answered every request, in order`(_ seed: UInt64) {
    let crowd = crowd(seed)

    #expect(crowd.clients.map(\.answered) == crowd.clients.map(\.sent))
  }

  @Test(arguments: seeds)
  func `is shown nothing that a crash could take back`(_ seed: UInt64) {
    let crowd = crowd(seed)

    #expect(crowd.shownTooEarly == [])
  }

  @Test(arguments: seeds)
  func `is shown each change once, in order`(_ seed: UInt64) {
    let crowd = crowd(seed)

    #expect(crowd.shownBackwards == [])
  }

  @Test(arguments: seeds)
  func `is shown in the end what is on the disk`(_ seed: UInt64) {
    var crowd = crowd(seed)
    let listed = crowd.bench.ask(#"{"command":"list"}"#).timers
    let states = listed.map { "\($0.text("timer") ?? "") \($0.revision ?? 0)" }

    let stored = crowd.bench.records.map { "\($0.name) \($1.timer.revision)" }.sorted()
    let shown = crowd.shown.map { "\($0) \($1)" }.sorted()

    #expect(states == stored)
    #expect(shown == stored)
  }

  @Test(arguments: seeds)
  func `finds the same after a restart`(_ seed: UInt64) {
    var crowd = crowd(seed)
    let list = #"{"command":"list"}"#
    let before = crowd.bench.ask(list).timers.map { "\($0.text("timer") ?? "") \($0.status ?? "")" }

    var restarted = crowd.bench.restarted(after: 0)

    #expect(
      restarted.ask(list).timers.map { "\($0.text("timer") ?? "") \($0.status ?? "")" } == before)
  }
}
