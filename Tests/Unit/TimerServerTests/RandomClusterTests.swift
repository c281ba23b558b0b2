import TestSupport
import Testing
import TimerCore
import TimerProtocol
import WebSocketTransport

@testable import TimerServer
@testable import TimerStorage

/// Clients of several servers that send random requests, over a store that refuses now and then.
private struct ClusterCrowd {
  var cluster: ServerCluster
  var random: SeededGenerator
  var clients: [Client] = []
  /// The requests by their idempotency keys, as they were sent first.
  var requests: [String: String] = [:]
  /// The keys of requests that some server has answered with success.
  var accepted: Set<String> = []
  /// For each server, the ends of crossings that it has shown.
  var endsShown: [[String]]
  /// The last revision that each server has shown, and those that came after a higher one.
  var lastShown: [Int]
  var shownBackwards: [Int] = []
  var outcomes: Set<String> = []

  struct Client {
    let server: Int
    let id: ConnectionID
    var sent: [String] = []
    var answered: [String] = []
    /// The idempotency keys of the client's requests, by the requests' `id`.
    var keys: [String: String] = [:]
  }

  init(seed: UInt64) {
    random = SeededGenerator(state: seed)
    let count = Int.random(in: 2...3, using: &random)
    cluster = ServerCluster(count)
    endsShown = Array(repeating: [], count: count)
    lastShown = Array(repeating: 0, count: count)
    for server in 0..<count {
      for _ in 0..<2 { clients.append(Client(server: server, id: cluster.connect(to: server))) }
    }
  }

  mutating func act() {
    let server = Int.random(in: 0..<cluster.servers.count, using: &random)
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<9: send()
    case 9..<14: cluster.commit(server, first: Int.random(in: 1...4, using: &random))
    case 14: cluster.commit(server, first: Int.random(in: 1...3, using: &random), failing: true)
    case 15..<20: cluster.deliver(server, first: Int.random(in: 1...3, using: &random))
    case 20..<22:
      cluster.wait(Seconds(microseconds: Int64.random(in: 0..<400_000, using: &random)))
    case 22: cluster.wake(server)
    default: cluster.exchange(server)
    }
    listen()
  }

  mutating func finish() {
    cluster.wait(3)
    cluster.settle()
    listen()
  }

  private mutating func send() {
    let client = Int.random(in: 0..<clients.count, using: &random)
    let tag = "\(clients[client].sent.count)"
    var key = "r\(requests.count)"
    // A client that got no answer asks another server.
    if Int.random(in: 0..<5, using: &random) == 0, let earlier = requests.keys.sorted().last {
      key = earlier
    }
    let request = requests[key] ?? newRequest(of: clients[client].server)
    requests[key] = request
    clients[client].sent.append(tag)
    clients[client].keys[tag] = key
    cluster.send(
      #"{"id":\#(tag),"requestId":"\#(key)",\#(request)}"#, from: clients[client].id,
      to: clients[client].server)
  }

  private mutating func newRequest(of server: Int) -> String {
    let commands = [
      #""start","duration":1"#, #""start","duration":0.5,"atZero":"repeat","force":true"#,
      #""start","type":"stopwatch""#, #""start","duration":1,"atZero":"finish","force":true"#,
      #""start","force":true"#, #""pause""#, #""resume""#, #""finish""#, #""reset""#, #""remove""#,
      #""addRemainingTime","seconds":1"#, #""addRemainingTime","seconds":-1,"clamp":true"#,
      #""addElapsedTime","seconds":1"#, #""lap""#, #""update","title":"x""#, #""finishAll""#,
    ]
    let command = commands.randomElement(using: &random) ?? #""finishAll""#
    if command == #""finishAll""# { return #""command":"finishAll""# }
    let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
    var condition = ""
    let known = TimerID(name).flatMap { cluster.servers[server].bench.hub.timerTable.durable($0) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: condition = #","ifRevision":\#(known?.revision ?? 0)"#
    case 1: condition = #","ifRun":\#(known?.runRevision ?? 0)"#
    default: break
    }
    return #""command":\#(command),"timer":"\#(name)"\#(condition)"#
  }

  private mutating func listen() {
    for index in clients.indices {
      let messages = cluster.messages(to: clients[index].id, of: clients[index].server)
      for reply in messages where reply.isReply {
        let tag = reply["reply"].map { "\($0)" } ?? "?"
        clients[index].answered.append(tag)
        outcomes.insert(reply.code ?? "ok")
        if reply.isOK == true, let key = clients[index].keys[tag] { accepted.insert(key) }
      }
    }
    for server in cluster.servers.indices {
      for message in cluster.shown(by: server) { record(message, of: server) }
    }
  }

  private mutating func record(_ message: Message, of server: Int) {
    for state in message.timers {
      guard let revision = state.revision else { continue }
      if revision <= lastShown[server] { shownBackwards.append(revision) }
      lastShown[server] = revision
      if message.cause == "ended", let at = message.number("endedAt") {
        endsShown[server].append("\(state.text("timer") ?? "") \(at)")
      }
    }
  }
}

// MARK: - One server as the model

extension ClusterCrowd {
  /// The reason why one server can't have made the history; nil when one can.
  func faultOfHistory() -> String? {
    var model: [TimerID: SharedTimer] = [:]
    var last = 0
    for change in cluster.history {
      // A note changes nothing that a client sees.
      guard !change.causes.isEmpty else { continue }
      guard change.revision > last else { return "revision \(change.revision) after \(last)" }
      last = change.revision
      for (id, record) in change.timers {
        guard follows(record?.timer, model[id], id, change) else {
          let states = [model[id], record?.timer].map(String.init(describing:))
          return "\(change.stamp) of \(id.name): " + states.joined(separator: " to ")
        }
        model[id] = record?.timer
      }
    }
    return model == cluster.records.mapValues(\.timer) ? nil : "the states are not the last ones"
  }

  /// Returns whether the rules lead from one state to the other.
  private func follows(
    _ after: SharedTimer?, _ before: SharedTimer?, _ id: TimerID, _ change: RemoteChange
  ) -> Bool {
    if case .ended(let crossings, _) = change.causes[id] {
      return crossings.first?.at == before?.zeroInstant && crossings.last?.timer == after
    }
    guard let key = change.request?.requestId, let request = requests[key],
      let message = try? ClientMessage(Array("{\(request)}".utf8))
    else { return false }
    var asked = TimerChange(.finish(resetTime: false))
    if case .change(id, let command, _) = message.request { asked = command }
    // The change was made at one of these instants.
    return [after?.changedAt, after?.runChangedAt, before?.changedAt].contains { instant in
      guard let instant else { return false }
      let next = Result {
        try SharedTimer.applying(asked, to: before, id: id, now: instant)
      }
      guard case .success(let next) = next else { return false }
      return next?.numbered(after?.revision ?? 0) == after
    }
  }

  /// The number of times that each request was made.
  var timesMade: [String: Int] {
    cluster.history.reduce(into: [:]) { counts, change in
      if let key = change.request?.requestId { counts[key, default: 0] += 1 }
    }
  }

  /// Each crossing of zero that was made, in the order of the history.
  var endsMade: [String] {
    cluster.history.flatMap { change in
      change.causes.flatMap { id, cause -> [String] in
        guard case .ended(let crossings, _) = cause else { return [] }
        return crossings.map { "\(id.name) \($0.at.sinceEpoch.inSeconds)" }
      }
    }
  }
}

@Suite struct `Several servers over one store` {
  private static let seeds: ClosedRange<UInt64> = 1...12

  private func crowd(_ seed: UInt64) -> ClusterCrowd {
    var crowd = ClusterCrowd(seed: seed)
    for _ in 0..<300 { crowd.act() }
    crowd.finish()
    return crowd
  }

  @Test(arguments: seeds)
  func `are as one to their clients`(_ seed: UInt64) {
    let crowd = crowd(seed)

    // Each request is answered once, in order.
    #expect(crowd.clients.map(\.answered) == crowd.clients.map(\.sent))
    // No change waits for ever.
    #expect(crowd.cluster.servers.allSatisfy { $0.bench.hub.timerTable.pending.last == nil })
    // Each request that was answered with success was made once, and no other request was made.
    #expect(crowd.timesMade == Dictionary(uniqueKeysWithValues: crowd.accepted.map { ($0, 1) }))
    // The history is one that a single server could have made.
    #expect(crowd.faultOfHistory() == nil)
  }

  @Test(arguments: seeds)
  func `show the same in the end, each change and each end once`(_ seed: UInt64) {
    let crowd = crowd(seed)
    let stored = crowd.cluster.records.values.sorted { $0.timer.id < $1.timer.id }

    for (server, shown) in zip(crowd.cluster.servers, crowd.endsShown) {
      let table = server.bench.hub.timerTable
      #expect(table.durableTimers == stored.map(\.timer))
      #expect(table.activeIDs == stored.map(\.timer).filter(\.isActive).map(\.id))
      #expect(
        stored.map { table.ends($0.timer.id, after: 0).map(\.revision) }
          == stored.map { $0.ends.map(\.revision) })
      #expect(shown == crowd.endsMade)
    }
    #expect(crowd.shownBackwards == [])
  }

  @Test func `meet every outcome in these sequences`() {
    var outcomes: Set<String> = []
    for seed in Self.seeds { outcomes.formUnion(crowd(seed).outcomes) }

    #expect(outcomes.isSuperset(of: ["ok", "storageFailed", "revisionMismatch", "runMismatch"]))
  }
}
