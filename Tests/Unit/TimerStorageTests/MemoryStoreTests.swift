import Synchronization
import Testing
import TimerCore

@testable import TimerStorage

@Suite struct `A store in memory` {
  private func change(
    _ ticket: UInt64, of server: String, _ name: String = "tea", revision: Int = 1,
    after expected: ChangeStamp? = nil, request: String? = nil
  ) -> StoredChange {
    let stamp = ChangeStamp(server: server, ticket: ticket)
    var change = StoredChange(
      stamp: stamp, timers: [id(name): .make(name, revision: revision)])
    change.expected[id(name)] = expected
    change.revisions = revision...revision
    change.causes[id(name)] = .updated
    change.request = request.map { IdempotencyRecord(requestId: $0, revision: revision, at: 0) }
    return change
  }

  private func outcomes(_ exchange: MemoryTimers.Exchange) -> [StoreOutcome] {
    exchange.reports.map(\.outcome)
  }

  private let trouble = StorageTrouble(reason: "full", description: "full")

  @Test func `answers that a change was made, with its revision`() {
    var timers = MemoryTimers(isShared: true)
    _ = timers.exchange([change(1, of: "a", "rice")], with: "a")

    let exchange = timers.exchange([change(1, of: "b")], with: "b")

    #expect(outcomes(exchange) == [.made])
    #expect(exchange.reports.map(\.revision) == [2])
    #expect(exchange.changes.map(\.revision) == [1])
    #expect(timers.records[id("tea")]?.timer.revision == 2)
  }

  @Test func `answers that another server came first`() {
    var timers = MemoryTimers(isShared: true)
    let first = change(1, of: "a")
    _ = timers.exchange([first], with: "a")

    let late = timers.exchange([change(1, of: "b"), change(2, of: "b", "rice")], with: "b")
    let next = timers.exchange([change(3, of: "b", after: first.stamp)], with: "b")

    #expect(outcomes(late) == [.overtaken, .made])
    #expect(outcomes(next) == [.made])
  }

  @Test func `answers that a request was made before, by which change`() {
    var timers = MemoryTimers(isShared: true)
    let first = change(1, of: "a", request: "r")
    _ = timers.exchange([first], with: "a")

    let exchange = timers.exchange([change(1, of: "b", "rice", request: "r")], with: "b")

    #expect(outcomes(exchange) == [.repeated(first.stamp)])
    #expect(timers.records.count == 1)
  }

  @Test func `answers that a change failed, and what was built on it`() {
    var timers = MemoryTimers(isShared: true)
    var second = StoredChange(ticket: 2, timers: [:], bases: [1])
    second.revisions = 2...2
    let failed = timers.exchange([change(1, of: "a")], with: "a", trouble: trouble)
    let exchange = timers.exchange([second, change(3, of: "a", "rice")], with: "a")

    #expect(outcomes(failed) == [.failed(trouble)])
    #expect(outcomes(exchange) == [.failed(trouble), .made])
  }

  @Test func `tells each server once what others have changed`() {
    let space = MemoryStore.Space(isShared: true)
    let events = Mutex(0)
    let one = MemoryStore(space, server: "a") { _ in }
    let other = MemoryStore(space, server: "b") { event in
      if case .changed(let changes) = event { events.withLock { $0 += changes.count } }
    }

    one.submit([change(1, of: "a")])
    #expect(one.unreportedCount == 1)
    one.finish()
    for _ in 0..<3 { other.commit() }

    #expect(one.unreportedCount == 0)
    #expect(events.withLock { $0 } == 1)
  }

  @Test func `leaves the revisions of its only server`() {
    var timers = MemoryTimers()

    let exchange = timers.exchange([change(1, of: "a", revision: 40)], with: "a")

    #expect(exchange.reports.map(\.revision) == [nil])
    #expect(timers.records[id("tea")]?.timer.revision == 40)
  }
}
