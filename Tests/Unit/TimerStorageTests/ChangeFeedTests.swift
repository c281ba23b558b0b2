import Foundation
import Synchronization
import Testing

@testable import TimerStorage

/// The values that a stream of changes has given so far.
private final class Told: Sendable {
  private let changes = Mutex<[JSONFileStore.Change]>([])
  private let isOver = Mutex(false)

  init(_ stream: AsyncStream<JSONFileStore.Change>) {
    Task {
      for await change in stream { changes.withLock { $0.append(change) } }
      isOver.withLock { $0 = true }
    }
  }

  var all: [JSONFileStore.Change] { changes.withLock { $0 } }
  var hasEnded: Bool { isOver.withLock { $0 } }

  /// Waits up to half a minute for this many changes.
  func wait(for count: Int) async throws -> [JSONFileStore.Change] {
    for _ in 0..<3000 where all.count < count { try await Task.sleep(for: .milliseconds(10)) }
    return all
  }
}

@Suite struct `The changes of a store` {
  private let temporary = TemporaryFolder()

  private func store() -> JSONFileStore {
    JSONFileStore(insideDirectory: URL(fileURLWithPath: temporary.path), name: "store")
  }

  @Test func `reach each listener in their order`() async throws {
    let store = store()
    let both = [Told(store.changes), Told(store.changes)]

    store.store(1, forKey: "a")
    store.store(1, forKey: "a")
    store.incrementInteger(forKey: "n")
    store.remove(key: "a")

    for told in both {
      #expect(
        try await told.wait(for: 3) == [
          .init(key: "a", kind: .stored, origin: .thisStore),
          .init(key: "n", kind: .stored, origin: .thisStore),
          .init(key: "a", kind: .removed, origin: .thisStore),
        ])
    }
  }

  @Test func `by other processes are reported, and by editors`() async throws {
    let (store, other) = (store(), store())
    store.store(1, forKey: "both")
    let told = Told(store.changes)

    other.store(2, forKey: "both")
    _ = try await told.wait(for: 1)
    other.remove(key: "both")
    _ = try await told.wait(for: 2)
    try temporary.write("5", to: "store/by-hand.json")

    let changes = try await told.wait(for: 3)
    #expect(changes.map(\.key) == ["both", "both", "by-hand"])
    #expect(changes.map(\.kind) == [.stored, .removed, .stored])
    #expect(changes.allSatisfy { $0.origin == .elsewhere })
  }

  @Test func `of the own process are not reported a second time as another's`() async throws {
    let store = store()
    let told = Told(store.changes)
    for value in 1...50 { store.store(value, forKey: "n") }
    _ = try await told.wait(for: 50)

    try await Task.sleep(for: .milliseconds(300))

    #expect(told.all.count == 50)
    #expect(told.all.allSatisfy { $0.origin == .thisStore })
  }

  @Test func `are reported for values that begin alike`() async throws {
    let (store, other) = (store(), store())
    let told = Told(store.changes)
    let long = String(repeating: "x", count: 200)
    store.store(long + "1", forKey: "key")
    _ = try await told.wait(for: 1)

    other.store(long + "2", forKey: "key")

    #expect(try await told.wait(for: 2).last?.origin == .elsewhere)
  }

  @Test func `are posted as one notification a step`() async throws {
    let store = store()
    let posted = Mutex<[[String]]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: JSONFileStore.didChangeNotification, object: store, queue: nil
    ) { note in
      let keys = note.userInfo?[JSONFileStore.changedKeysUserInfoKey] as? [String]
      posted.withLock { $0.append(keys?.sorted() ?? []) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }

    store.bulkStore(items: ["a": 1, "b": 2])
    self.store().store(3, forKey: "c")

    for _ in 0..<3000 where posted.withLock({ $0.count < 2 }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(posted.withLock { $0 } == [["a", "b"], ["c"]])
  }

  @Test func `end with the store`() async throws {
    let told = Told(store().changes)

    for _ in 0..<3000 where !told.hasEnded { try await Task.sleep(for: .milliseconds(10)) }
    #expect(told.hasEnded)
  }
}
