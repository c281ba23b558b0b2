import Foundation
import Synchronization
import Testing

@testable import WebSocketTransport

// libwebsockets has one log for the process: one group at a time.
@Suite(.serialized) struct `A group of three loops` {
  /// So many clients that the kernel gives each loop some: the probability that one gets none is under 1 in 10^6.
  static let clientCount = 40

  @Test func `spreads connections over its loops, each with an identity of its own`() throws {
    let server = try RunningGroup()
    let clients = try server.clients(Self.clientCount)

    let numbers = try clients.map { client in
      try client.send("name")
      return try #require(UInt64(try client.text()))
    }

    #expect(Set(numbers).count == Self.clientCount)
    #expect(Set(numbers.map { ConnectionID($0).loopNumber }) == [0, 1, 2])
    server.stop()
  }

  @Test func `sends a broadcast to all connections, to each in order`() throws {
    let server = try RunningGroup()
    let clients = try server.clients(Self.clientCount)
    for client in clients {
      try client.send("join")
      #expect(try client.text() == "joined")
    }

    for number in 0..<50 { try clients[number % clients.count].send("all \(number)") }

    // The messages of one client are handled in their order. Between clients there is no order, but all receive the
    // same one.
    let heard = try clients.map { client in try (0..<50).map { _ in try client.text() } }
    #expect(Set(heard).count == 1)
    #expect(Set(heard[0]) == Set((0..<50).map { "\($0)" }))
    server.stop()
  }

  @Test func `keeps the order of what one connection is sent`() throws {
    let server = try RunningGroup()
    let clients = try server.clients(Self.clientCount)

    for client in clients { try client.send("count 100") }

    for client in clients {
      #expect(try (0..<100).map { _ in try client.text() } == (0..<100).map { "\($0)" })
    }
    server.stop()
  }

  @Test func `closes connections of any loop with the code that was asked for`() throws {
    let server = try RunningGroup()
    let clients = try server.clients(Self.clientCount)
    let judge = try server.clients(1)[0]

    for client in clients {
      try client.send("name")
      try judge.send("end \(try client.text())")
    }

    for client in clients { #expect(try client.closeCode() == 1008) }
    for client in clients { try client.partWithAnswer() }
    server.stop()
    #expect(server.outcome == Outcome(opened: 41, closed: 41))
  }

  @Test func `sends close frames to the connections of all loops when it stops`() throws {
    let server = try RunningGroup()
    let clients = try server.clients(Self.clientCount)

    server.askToStop()

    for client in clients { #expect(try client.closeCode() == 1001) }
    for client in clients { try client.partWithAnswer() }
    server.wait()
    #expect(server.outcome == Outcome(opened: 40, closed: 40))
  }

  @Test func `checks its deadlines between the events of its loops`() throws {
    let server = try RunningGroup()
    let clients = try server.clients(Self.clientCount)
    try clients[0].send("tick")
    let slow = Array(repeating: "slow", count: 20)

    for client in clients { try client.send(slow) }
    for client in clients { for _ in slow { #expect(try client.text() == "done") } }
    server.stop()

    // In each iteration the main loop handles worker events twice, each time eight of them or for five milliseconds.
    #expect(server.mostReportedInARow <= 24)
  }

  @Test func `makes progress when its channels are full`() throws {
    let server = try RunningGroup { $0.unsentBytesMax = 1_000_000_000 }
    let clients = try server.clients(12)

    for client in clients { try client.send(Array(repeating: "large", count: 300)) }

    let last = try server.clients(1)[0]
    try last.send("name")
    #expect(try !last.text().isEmpty)
    server.stop()
  }

  @Test func `sums the counters of its loops`() throws {
    let server = try RunningGroup()
    let clients = try server.clients(Self.clientCount)

    // A loop publishes its counts at the end of an iteration, which may be after a client's handshake.
    var heard = ""
    for _ in 0..<3000 where heard != "40 40 3" {
      try clients[0].send("figures")
      heard = try clients[0].text()
      Thread.sleep(forTimeInterval: 0.01)
    }

    #expect(heard == "40 40 3")
    server.stop()
  }

  @Test func `enforces the connection limit over all loops`() throws {
    let server = try RunningGroup { $0.connectionsMax = 12 }
    let clients = try server.clients(Self.clientCount)

    var refusedCount = 0
    for client in clients {
      // A refused client may have been disconnected by now, because it did not answer the close frame.
      if (try? client.name()) == nil { refusedCount += 1 }
    }

    #expect(refusedCount == Self.clientCount - 12)
    server.stop()
  }

  @Test func `releases its resources when it was never run`() throws {
    let port: Int
    do { port = try LoopGroup(RunningGroup.options).port }

    var options = RunningGroup.options
    options.port = port
    #expect(try LoopGroup(options).port == port)
  }

  @Test func `does not share its port with another group`() throws {
    let group = try LoopGroup(RunningGroup.options)
    var options = RunningGroup.options
    options.port = group.port

    for loopCount in [1, 3] {
      options.loopCount = loopCount
      let refusal = TransportError.addressInUse(address: "127.0.0.1", port: group.port)
      #expect(throws: refusal) { try LoopGroup(options) }
    }
  }
}

extension RawClient {
  /// The name that its connection has on the server.
  fileprivate func name() throws -> String {
    try send("name")
    return try text()
  }
}

struct Outcome: Equatable {
  var opened = 0
  var closed = 0
}

/// A group on a thread of its own, with a server that does what its clients ask for.
final class RunningGroup: Sendable {
  static var options: TransportOptions {
    var options = TransportOptions()
    options.port = 0
    options.loopCount = 3
    options.drainSeconds = 1
    return options
  }

  let port: Int
  private let orders = Mailbox<String>()
  private let ended = DispatchSemaphore(value: 0)

  init(_ set: (inout TransportOptions) -> Void = { _ in }) throws {
    var options = Self.options
    set(&options)
    let (orders, ended, started) = (orders, ended, DispatchSemaphore(value: 0))
    let progress = Progress()
    Thread.detachNewThread { [options] in
      do {
        let group = try LoopGroup(options)
        progress.port.withLock { $0 = group.port }
        started.signal()
        group.listen(to: orders)
        let outcome = Self.serve(group, orders, progress.mostReportedInARow)
        progress.outcome.withLock { $0 = outcome }
      } catch {
        started.signal()
      }
      ended.signal()
    }
    started.wait()
    self.progress = progress
    port = progress.port.withLock { $0 }
    guard port != 0 else { throw RawClient.Fault("no group") }
  }

  private final class Progress: Sendable {
    let port = Mutex(0)
    let outcome = Mutex(Outcome())
    let mostReportedInARow = Mutex(0)
  }

  private let progress: Progress

  func clients(_ count: Int) throws -> [RawClient] {
    try (0..<count).map { _ in try RawClient(port: port) }
  }

  func askToStop() { orders.post("stop") }

  func wait() { #expect(ended.wait(timeout: .now() + 60) == .success) }

  func stop() {
    askToStop()
    wait()
  }

  var outcome: Outcome { progress.outcome.withLock { $0 } }
  /// The most events of worker loops that were handled without a deadline between them.
  var mostReportedInARow: Int { progress.mostReportedInARow.withLock { $0 } }

  private static func serve(
    _ group: LoopGroup, _ orders: Mailbox<String>, _ mostReportedInARow: borrowing Mutex<Int>
  ) -> Outcome {
    var outcome = Outcome()
    var reportedInARow = 0
    group.run { event, actions in
      switch event {
      case .opened: outcome.opened += 1
      case .closed: outcome.closed += 1
      case .woken: if !orders.drain().isEmpty { actions.append(.stop) }
      case .received(let id, let text):
        let words = String(decoding: text, as: UTF8.self).split(separator: " ").map(String.init)
        let figures = group.transportCounters
        if id.loopNumber > 0 { reportedInARow += 1 }
        mostReportedInARow.withLock { $0 = max($0, reportedInARow) }
        switch words[0] {
        case "name": actions.append(.send(frame("\(id.number)"), to: id))
        case "join": actions += [.join(id, everybody), .send(frame("joined"), to: id)]
        case "all": actions.append(.broadcast(frame(words[1]), to: everybody))
        case "count":
          for number in 0..<(Int(words[1]) ?? 0) {
            actions.append(.send(frame("\(number)"), to: id))
          }
        case "tick": actions.append(.setDeadline(afterMicroseconds: 0))
        case "slow":
          Thread.sleep(forTimeInterval: 0.002)
          actions.append(.send(frame("done"), to: id))
        case "large":
          actions.append(.send(Frame(Array(repeating: UInt8(ascii: "x"), count: 16_384)), to: id))
        case "figures":
          let text = "\(figures.acceptedCount) \(figures.webSocketCount) \(figures.loopCount)"
          actions.append(.send(frame(text), to: id))
        case "end":
          let other = ConnectionID(UInt64(words[1]) ?? 0)
          actions.append(.close(other, .policyViolation, reason: "as another wishes"))
        default: break
        }
      case .deadline:
        reportedInARow = 0
        actions.append(.setDeadline(afterMicroseconds: 0))
      case .receivedBinary, .requested, .stopRequested, .reloadRequested: break
      }
    }
    return outcome
  }

  private static let everybody = GroupID(1)

  private static func frame(_ text: String) -> Frame { Frame(Array(text.utf8)) }
}
