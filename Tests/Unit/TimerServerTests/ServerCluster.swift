import Synchronization
import Testing
import TimerCore
import TimerProtocol
import WebSocketTransport

@testable import TimerServer
@testable import TimerStorage

/// Several servers over one store, all on one clock. Each step is made when a test says so: `commit` stores what a
/// server has submitted, and `deliver` reports that to the server.
struct ServerCluster {
  let space = MemoryStore.Space(isShared: true)
  private(set) var servers: [Server]

  /// A server of the cluster, with its store and its subscriber.
  struct Server {
    var bench: HubBench
    let store: MemoryStore
    let inbox: Inbox
    var backlog = StoreBacklog()
    let subscriber: ConnectionID
  }

  /// The events that a store has reported and its server has not handled yet.
  final class Inbox: Sendable {
    private let events = Mutex<[StoreEvent]>([])

    func append(_ event: StoreEvent) { events.withLock { $0.append(event) } }

    func drain() -> [StoreEvent] {
      events.withLock { events in
        defer { events = [] }
        return events
      }
    }
  }

  init(_ count: Int = 2) {
    servers = []
    for number in 1...count {
      let inbox = Inbox()
      let store = MemoryStore(space, server: "server-\(number)") { inbox.append($0) }
      var bench = HubBench.make { $0.epoch = "server-\(number)" }
      let subscriber = bench.subscriber(to: "*")
      servers.append(Server(bench: bench, store: store, inbox: inbox, subscriber: subscriber))
    }
  }

  /// The changes of all servers in their order.
  var history: [RemoteChange] { space.timers.withLock { $0.history } }
  /// The stored records.
  var records: [TimerID: TimerRecord] { space.timers.withLock { $0.records } }

  // MARK: Steps

  mutating func connect(to server: Int) -> ConnectionID {
    let connection = servers[server].bench.connect()
    _ = servers[server].bench.heard(by: connection)
    return connection
  }

  mutating func send(_ json: String, from connection: ConnectionID, to server: Int) {
    act(on: server) { $0.send(json, from: connection) }
  }

  /// Time passes on all servers; they notice it at their next event.
  mutating func wait(_ length: Seconds) {
    for server in servers.indices { servers[server].bench.wait(length) }
  }

  mutating func stop(_ server: Int) {
    act(on: server) { $0.stop() }
  }

  mutating func wake(_ server: Int) {
    act(on: server) { $0.handle(.wake) }
  }

  /// The store commits the first of a server's changes, and has not reported it yet.
  mutating func commit(_ server: Int, first count: Int = .max, failing: Bool = false) {
    servers[server].store.commit(
      first: count, trouble: failing ? StorageTrouble(HubBench.diskFull) : nil)
    servers[server].backlog.append(servers[server].inbox.drain())
  }

  /// The server is handed the store's reports, and the changes by other servers.
  mutating func deliver(_ server: Int, first count: Int = .max) {
    var left = count
    while left > 0, let event = servers[server].backlog.popFirst() {
      left -= 1
      act(on: server) { $0.handle(.store(event)) }
    }
  }

  mutating func exchange(_ server: Int) {
    commit(server)
    deliver(server)
  }

  /// All pending changes are stored and reported.
  mutating func settle() {
    for _ in 0..<50 {
      for server in servers.indices {
        wake(server)
        exchange(server)
      }
      if servers.allSatisfy({ $0.bench.hub.timerTable.pending.last == nil }) {
        // The last changes are reported to the other servers, too.
        for server in servers.indices { exchange(server) }
        return
      }
    }
  }

  private mutating func act(on server: Int, _ act: (inout HubBench) -> Void) {
    act(&servers[server].bench)
    servers[server].store.submit(servers[server].bench.takeChanges())
  }

  // MARK: Output

  mutating func heard(by connection: ConnectionID, of server: Int) -> [String] {
    servers[server].bench.heard(by: connection)
  }

  mutating func messages(to connection: ConnectionID, of server: Int) -> [Message] {
    servers[server].bench.messages(to: connection)
  }

  /// The messages that a server sends to its subscriber.
  mutating func shown(by server: Int) -> [Message] {
    servers[server].bench.messages(to: servers[server].subscriber)
  }
}
