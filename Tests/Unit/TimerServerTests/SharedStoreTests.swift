import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer
@testable import TimerStorage

@Suite struct `A store that several servers share` {
  private func start(_ id: Int) -> String {
    #"{"id":\#(id),"command":"start","timer":"tea","duration":300}"#
  }

  private func remove(_ id: Int) -> String {
    #"{"id":\#(id),"command":"remove","timer":"tea"}"#
  }

  @Test func `makes a start behind a removal that is under way, in one round`() {
    var cluster = ServerCluster()
    let client = cluster.connect(to: 0)
    for id in 0..<12 {
      cluster.send(id.isMultiple(of: 2) ? start(id) : remove(id), from: client, to: 0)
    }

    cluster.exchange(0)

    #expect(cluster.heard(by: client, of: 0) == (0..<12).map { "ok \($0)" })
    #expect(cluster.history.count == 12)
  }

  @Test func `makes no start behind a removal that was overtaken by another one`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    cluster.send(start(0), from: clients[0], to: 0)
    cluster.settle()
    for server in 0...1 { _ = cluster.heard(by: clients[server], of: server) }
    cluster.send(remove(1), from: clients[0], to: 0)
    cluster.send(start(2), from: clients[0], to: 0)
    cluster.send(remove(3), from: clients[1], to: 1)
    cluster.exchange(1)

    cluster.commit(0)
    let made = cluster.history.count
    cluster.settle()

    #expect(made == 2)
    #expect(cluster.heard(by: clients[0], of: 0) == ["unknownTimer 1", "ok 2"])
    #expect(cluster.history.count == 3)
  }

  @Test func `keeps a key that another server has used when a change of it fails here`() {
    var cluster = ServerCluster()
    let clients = [cluster.connect(to: 0), cluster.connect(to: 1)]
    cluster.send(start(0), from: clients[0], to: 0)
    cluster.settle()
    let pause = #"{"id":1,"command":"pause","timer":"tea","requestId":"k"}"#
    for server in 0...1 {
      _ = cluster.heard(by: clients[server], of: server)
      cluster.send(pause, from: clients[server], to: server)
    }
    cluster.exchange(0)

    cluster.commit(1, failing: true)
    cluster.deliver(1)
    cluster.send(pause, from: clients[1], to: 1)
    cluster.settle()

    #expect(cluster.heard(by: clients[1], of: 1) == ["storageFailed 1", "ok 1"])
    #expect(cluster.history.count == 2)
  }

  @Test func `gives a change by another server the clock of this one`() throws {
    var server = TimerTable(clock: ServerClockSample.anchor(ahead: 2), epoch: "b")
    let zero: Instant = 1_764_480_300
    let change = try ended(at: zero, isDelivered: true)

    let proposals = server.merge(change, at: 1_764_480_400)
    let proposal = try #require(proposals.first)

    let crossing = try #require(proposal.crossings.first)
    #expect(crossing.at == zero + 2)
    #expect(crossing.timer == proposal.after)
    #expect(proposal.cause == .ended(at: zero + 2, late: false))
  }

  @Test(arguments: [true, false])
  func `tells whether anybody was there to see the end of a timer`(isDelivered: Bool) throws {
    var server = TimerTable(clock: ServerClockSample.anchor(ahead: 0), epoch: "b")

    let proposals = server.merge(
      try ended(at: 1_764_480_300, isDelivered: isDelivered), at: 1_764_480_400)

    #expect(proposals.map(\.isDelivered) == [isDelivered])
  }

  /// A countdown that another server has seen end.
  private func ended(at zero: Instant, isDelivered: Bool) throws -> RemoteChange {
    let id = try #require(TimerID("tea"))
    let start = TimerStart(
      duration: 10, kind: .timer, settings: TimerUpdate(atZero: .finish), force: false)
    let running = try #require(
      try SharedTimer.applying(
        TimerChange(.start(start)), to: nil, id: id, now: zero - 10)
    ).numbered(1)
    let crossing = try #require(running.crossingZero(at: zero + 1)).numbered(2)
    let record = TimerRecord(
      timer: crossing.timer, clock: ServerClockSample.anchor(ahead: 0).reading(at: zero),
      answered: [],
      ends: [TimerEnd(at: zero, revision: 2, isDelivered: isDelivered)])
    return RemoteChange(
      stamp: ChangeStamp(server: "a", ticket: 2), revision: 2, timers: [id: record],
      causes: [id: .ended([crossing], late: false)])
  }
}

/// Clocks of processes on one machine, of which each is ahead of the first by some seconds.
private enum ServerClockSample {
  static func anchor(ahead: Seconds) -> ClockAnchor {
    ClockAnchor(
      start: ClockReading(server: 1_764_480_000 + ahead, boot: 100, bootID: "boot"))
  }
}
