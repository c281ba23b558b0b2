import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer
@testable import TimerStorage

@Suite struct `A change that another server's has overtaken` {
  /// Two servers that both know a countdown from 300 s, and a client of each server.
  private func running() -> (cluster: ServerCluster, clients: [ConnectionID]) {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    cluster.send(
      #"{"id":0,"command":"start","timer":"tea","duration":300}"#, from: clients[0], to: 0)
    cluster.settle()
    for server in 0...1 {
      _ = cluster.heard(by: clients[server], of: server)
      _ = cluster.shown(by: server)
    }
    return (cluster, clients)
  }

  /// The second server adds a minute, and its change is stored.
  private func overtake(_ cluster: inout ServerCluster, _ client: ConnectionID) {
    cluster.send(
      #"{"id":0,"command":"addRemainingTime","timer":"tea","seconds":60}"#, from: client, to: 1)
    cluster.exchange(1)
  }

  @Test func `is decided again on the other's state`() {
    var (cluster, clients) = running()
    cluster.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    overtake(&cluster, clients[1])

    cluster.exchange(0)
    let early = cluster.heard(by: clients[0], of: 0)
    cluster.settle()
    let reply = cluster.messages(to: clients[0], of: 0).first

    #expect(early == [])
    #expect(reply?.isOK == true)
    #expect(reply?.timer?.status == "paused")
    #expect(reply?.timer?.time == 360)
    let shown = ["adjusted tea 360", "paused tea 360"]
    #expect(cluster.shown(by: 0).map(\.description) == shown)
    #expect(cluster.shown(by: 1).map(\.description) == shown)
  }

  @Test func `counts from the instant at which it was received`() {
    var (cluster, clients) = running()
    cluster.send(#"{"id":1,"command":"update","timer":"tea","title":"x"}"#, from: clients[1], to: 1)
    cluster.exchange(1)
    cluster.wait(10)
    cluster.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.wait(5)

    cluster.settle()

    #expect(cluster.messages(to: clients[0], of: 0).first?.timer?.time == 290)
  }

  @Test func `never counts from before the other's change`() {
    var (cluster, clients) = running()
    cluster.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.wait(10)
    overtake(&cluster, clients[1])

    cluster.settle()

    #expect(cluster.messages(to: clients[0], of: 0).first?.timer?.time == 350)
  }

  @Test func `is refused when it was meant for the state before`() throws {
    var (cluster, clients) = running()
    let revision = try #require(cluster.records.values.first?.timer.revision)
    cluster.send(
      #"{"id":1,"command":"pause","timer":"tea","ifRevision":\#(revision)}"#, from: clients[0],
      to: 0)
    overtake(&cluster, clients[1])

    cluster.settle()
    let reply = cluster.messages(to: clients[0], of: 0).first

    #expect(reply?.code == "revisionMismatch")
    #expect(reply?.timer?.time == 360)
  }

  @Test func `is refused when it was meant for the run before`() throws {
    var (cluster, clients) = running()
    let run = try #require(cluster.records.values.first?.timer.runRevision)
    cluster.send(
      #"{"id":1,"command":"pause","timer":"tea","ifRun":\#(run)}"#, from: clients[0], to: 0)
    cluster.send(
      #"{"id":1,"command":"start","timer":"tea","force":true}"#, from: clients[1], to: 1)
    cluster.exchange(1)

    cluster.settle()

    #expect(cluster.heard(by: clients[0], of: 0) == ["runMismatch 1"])
  }

  @Test func `takes with it what was built on it, in its order`() {
    var (cluster, clients) = running()
    cluster.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":2,"command":"resume","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":3,"command":"finishAll"}"#, from: clients[0], to: 0)
    overtake(&cluster, clients[1])

    cluster.settle()

    #expect(cluster.heard(by: clients[0], of: 0) == ["ok 1", "ok 2", "ok 3"])
    #expect(
      cluster.shown(by: 1).map(\.description) == [
        "adjusted tea 360", "paused tea 360", "resumed tea 360", "finished tea 360",
      ])
  }

  @Test func `leaves what was decided on other timers`() {
    var (cluster, clients) = running()
    cluster.send(#"{"id":1,"command":"start","timer":"rice"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":2,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":3,"command":"pause","timer":"rice"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":4,"command":"finishAll"}"#, from: clients[0], to: 0)
    overtake(&cluster, clients[1])

    cluster.settle()

    #expect(cluster.heard(by: clients[0], of: 0) == ["ok 1", "ok 2", "ok 3", "ok 4"])
    #expect(
      cluster.records.values.allSatisfy { $0.timer.run?.status == .finished })
    #expect(cluster.history.count == 6)
  }

  @Test func `takes a refusal with it that was decided on its state`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    cluster.send(#"{"id":1,"command":"start","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":2,"command":"start","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.send(
      #"{"id":3,"command":"addElapsedTime","timer":"tea","seconds":1}"#, from: clients[0], to: 0)
    cluster.send(
      #"{"id":1,"command":"start","timer":"tea","duration":60}"#, from: clients[1], to: 1)
    cluster.exchange(1)

    cluster.settle()

    #expect(
      cluster.heard(by: clients[0], of: 0) == [
        "timerAlreadyStarted 1", "timerAlreadyStarted 2", "invalidTimerType 3",
      ])
  }

  @Test func `keeps its idempotency key`() {
    var (cluster, clients) = running()
    let pause = #"{"id":1,"command":"pause","timer":"tea","requestId":"once"}"#
    cluster.send(pause, from: clients[0], to: 0)
    cluster.send(pause, from: clients[0], to: 0)
    overtake(&cluster, clients[1])

    cluster.settle()
    cluster.send(pause, from: clients[0], to: 0)

    #expect(cluster.heard(by: clients[0], of: 0) == ["ok 1", "ok 1", "ok 1"])
    #expect(cluster.history.count { $0.request?.requestId == "once" } == 1)
  }

  @Test func `is refused in the end when others always come first`() throws {
    var bench = HubBench.make()
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea"}"#, from: connection)

    var rounds = 0
    while let change = bench.takeChanges().first {
      rounds += 1
      bench.handle(.store(.reported([StoreReport(ticket: change.ticket, outcome: .overtaken)])))
    }
    let reply = try #require(bench.messages(to: connection).last)

    #expect(rounds == ChangeRequest.overtakenMax + 1)
    #expect(reply.code == "storageFailed")
    #expect(reply.error?["retryable"] as? Bool == true)
    #expect(bench.hub.timerTable.latestCount == 0)
  }

  @Test func `is refused by a server that stops`() {
    var (cluster, clients) = running()
    cluster.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    overtake(&cluster, clients[1])
    cluster.stop(0)

    cluster.settle()

    #expect(cluster.heard(by: clients[0], of: 0) == ["shuttingDown 1"])
    #expect(cluster.servers[0].bench.isStopped)
  }

  @Test func `is refused with what was built on it when the store fails`() {
    var (cluster, clients) = running()
    cluster.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":2,"command":"resume","timer":"tea"}"#, from: clients[0], to: 0)

    cluster.commit(0, first: 1, failing: true)
    cluster.settle()

    #expect(cluster.heard(by: clients[0], of: 0) == ["storageFailed 1", "storageFailed 2"])
    #expect(cluster.shown(by: 1).isEmpty)
  }
}

@Suite struct `A crossing of zero on several servers` {
  @Test func `is made once, and shown once by each`() {
    var cluster = ServerCluster(3)
    let client = cluster.connect(to: 0)
    cluster.send(
      #"{"id":0,"command":"start","timer":"tea","duration":5,"atZero":"finish"}"#, from: client,
      to: 0)
    cluster.settle()
    for server in 0...2 { _ = cluster.shown(by: server) }

    cluster.wait(6)
    for server in 0...2 { cluster.wake(server) }
    cluster.settle()

    for server in 0...2 {
      #expect(cluster.shown(by: server).map(\.cause) == ["ended"])
    }
    #expect(cluster.history.count == 2)
  }

  @Test func `is decided again before a request that came after it`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    cluster.send(
      #"{"id":0,"command":"start","timer":"tea","duration":5,"atZero":"finish"}"#,
      from: clients[0], to: 0)
    cluster.settle()
    cluster.wait(6)
    cluster.send(#"{"id":1,"command":"pause","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":1,"command":"update","timer":"tea","title":"x"}"#, from: clients[1], to: 1)
    cluster.exchange(1)

    cluster.settle()

    #expect(cluster.heard(by: clients[0], of: 0) == ["ok 0", "timerHasNotStarted 1"])
    #expect(cluster.shown(by: 0).map(\.cause) == ["started", "ended", "updated"])
  }
}

@Suite struct `A request that was made on another server` {
  private let start = #"{"id":1,"command":"start","timer":"tea","duration":300,"requestId":"r"}"#

  @Test func `gets the first result, and is made once`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    for server in 0...1 { cluster.send(start, from: clients[server], to: server) }

    cluster.exchange(0)
    cluster.exchange(1)
    let replies = (0...1).map { cluster.messages(to: clients[$0], of: $0).first }

    #expect(replies.map { $0?.isOK } == [true, true])
    #expect(replies[0]?.timer?.revision == replies[1]?.timer?.revision)
    #expect(cluster.shown(by: 1).map(\.description) == ["started tea 300"])
    #expect(cluster.history.count == 1)
  }

  @Test func `gets it without asking the store once its server knows of it`() {
    var cluster = ServerCluster()
    let client = cluster.connect(to: 0)
    cluster.send(start, from: client, to: 0)
    cluster.settle()
    let other = cluster.connect(to: 1)

    cluster.send(start, from: other, to: 1)

    #expect(cluster.heard(by: other, of: 1) == ["ok 1"])
    #expect(cluster.servers[1].store.unreportedCount == 0)
  }

  @Test func `is refused when it was another request`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    cluster.send(start, from: clients[0], to: 0)
    cluster.send(
      #"{"id":1,"command":"start","timer":"rice","requestId":"r"}"#, from: clients[1], to: 1)

    cluster.settle()

    #expect(cluster.heard(by: clients[1], of: 1) == ["badRequest 1"])
    #expect(cluster.records.count == 1)
  }

  @Test func `leaves those that were built on it`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    for server in 0...1 { cluster.send(start, from: clients[server], to: server) }
    cluster.send(#"{"id":2,"command":"pause","timer":"tea"}"#, from: clients[1], to: 1)
    cluster.exchange(0)

    cluster.settle()

    #expect(cluster.heard(by: clients[1], of: 1) == ["ok 1", "ok 2"])
    #expect(cluster.records.values.first?.timer.run?.status == .paused)
  }

  @Test func `gets the present state when nothing is known of the first result`() {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    let connection = bench.connect()
    bench.send(#"{"id":1,"command":"pause","timer":"tea","requestId":"r"}"#, from: connection)
    let first = ChangeStamp(server: "another", ticket: 7)

    for change in bench.takeChanges() {
      let outcome = StoreOutcome.repeated(first)
      bench.handle(.store(.reported([StoreReport(ticket: change.ticket, outcome: outcome)])))
    }
    let reply = bench.messages(to: connection).last

    #expect(reply?.isOK == true)
    #expect(reply?.timer?.status == "running")
    #expect(bench.hub.timerTable.pending.last == nil)
  }
}

@Suite struct `Revisions of several servers` {
  @Test func `are those of the store, also where a change is built on another under way`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    for command in [#""start","duration":300"#, #""pause""#, #""resume""#] {
      cluster.send(#"{"id":1,"command":\#(command),"timer":"tea"}"#, from: clients[0], to: 0)
    }
    cluster.send(#"{"id":1,"command":"start","timer":"rice"}"#, from: clients[1], to: 1)
    cluster.exchange(1)

    cluster.commit(0, first: 2)
    cluster.deliver(0)
    cluster.settle()
    let replies = cluster.messages(to: clients[0], of: 0).map(\.timer)

    #expect(replies.map { $0?.revision } == [2, 3, 4])
    #expect(replies.map { $0?["run"] as? Int } == [2, 2, 2])
    #expect(cluster.servers[1].bench.hub.timerTable.durableTimers.map(\.revision) == [1, 4])
  }

  @Test func `are what a condition is judged by, also on a change under way`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    for command in [#""start","duration":300"#, #""addRemainingTime","seconds":60"#] {
      cluster.send(#"{"id":1,"command":\#(command),"timer":"tea"}"#, from: clients[0], to: 0)
    }
    cluster.send(#"{"id":1,"command":"start","timer":"rice"}"#, from: clients[1], to: 1)
    cluster.exchange(1)
    cluster.commit(0, first: 1)
    cluster.deliver(0)

    cluster.send(
      #"{"id":2,"command":"pause","timer":"tea","ifRevision":2}"#, from: clients[0], to: 0)
    cluster.send(#"{"id":3,"command":"pause","timer":"tea","ifRun":2}"#, from: clients[0], to: 0)
    cluster.settle()

    #expect(
      cluster.heard(by: clients[0], of: 0) == ["ok 1", "ok 1", "revisionMismatch 2", "ok 3"])
  }

  @Test func `of a removed timer go on`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    cluster.send(#"{"id":1,"command":"start","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.settle()
    cluster.send(#"{"id":2,"command":"remove","timer":"tea"}"#, from: clients[1], to: 1)
    cluster.settle()

    cluster.send(#"{"id":3,"command":"start","timer":"tea"}"#, from: clients[0], to: 0)
    cluster.settle()

    #expect(cluster.messages(to: clients[0], of: 0).last?.timer?.revision == 3)
    #expect(cluster.shown(by: 1).map(\.description).contains("removed tea"))
  }
}
