import Foundation
import Testing

@testable import TimerServer
@testable import TimerStorage

@Suite final class `The store of tokens` {
  private let folder = FileManager.default.temporaryDirectory.path + "/tokens-" + UUID().uuidString
  private var store: TokenStore { TokenStore(path: nil, dataFolder: folder) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var contents: String {
    (try? String(contentsOfFile: store.path, encoding: .utf8)) ?? ""
  }

  @Test func `makes a token that the server knows`() throws {
    let secret = try store.add(name: "stage", role: .control, timers: ["tea"])

    let records = try #require(try store.file.load())
    let digest = try #require(TokenDigest(of: secret))
    let token = try #require(try TokenTable(records).token(digest, at: 0))
    #expect(token.name == "stage")
    #expect(token.role == .control)
    #expect(secret.hasPrefix("timersync_"))
    #expect(secret.utf8.count == "timersync_".utf8.count + 43)
  }

  @Test func `keeps no token, and shows neither token nor digest`() throws {
    let secret = try store.add(name: "stage", role: .control)

    #expect(!contents.contains(secret.suffix(43)))
    let entry = try #require(try store.list().first)
    let digest = try #require(TokenDigest(of: secret))
    #expect(!"\(entry)".contains(digest.hexadecimal))
  }

  @Test func `makes each token another`() throws {
    #expect(try store.add(name: "a", role: .view) != store.add(name: "b", role: .view))
    #expect(try store.list().map(\.name) == ["a", "b"])
  }

  @Test func `lets a token live to the end of its last second`() throws {
    let end = Date(timeIntervalSince1970: 2_000_000_000.25)

    _ = try store.add(name: "a", role: .view, expires: end)

    #expect(try store.list().first?.expires == Date(timeIntervalSince1970: 2_000_000_001))
  }

  @Test func `takes a name once`() throws {
    _ = try store.add(name: "a", role: .view)
    let before = contents

    #expect(throws: TokenFailure.taken("a")) { try store.add(name: "a", role: .control) }
    #expect(contents == before)
  }

  @Test func `undoes one that nobody has seen, and no other one of its name`() throws {
    _ = try store.add(name: "wall", role: .view)
    let unseen = try store.add(name: "stage", role: .control)

    try store.withdraw(unseen)
    #expect(try store.list().map(\.name) == ["wall"])

    _ = try store.add(name: "stage", role: .view)
    try store.withdraw(unseen)
    #expect(try store.list().map(\.name) == ["wall", "stage"])
  }

  @Test(arguments: ["", "a\nb", "\u{202e}", String(repeating: "a", count: 65)])
  func `takes no name that a log could not show`(_ name: String) {
    #expect(throws: TokenFailure.self) { try store.add(name: name, role: .view) }
    #expect(contents.isEmpty)
  }

  @Test func `takes no role that may nothing, and no list that matches nothing`() {
    #expect(throws: TokenFailure.self) { try store.add(name: "a", role: .none) }
    #expect(throws: TokenFailure.self) { try store.add(name: "a", role: .view, timers: ["a\0"]) }
  }

  @Test func `removes a token by its name, and no other`() throws {
    _ = try store.add(name: "a", role: .view)
    _ = try store.add(name: "b", role: .view)

    try store.remove("a")

    #expect(try store.list().map(\.name) == ["b"])
    #expect(throws: TokenFailure.unknown("a")) { try store.remove("a") }
  }

  @Test func `leaves a file alone that it can't read`() throws {
    _ = try store.add(name: "a", role: .view)
    try Data("{".utf8).write(to: URL(fileURLWithPath: store.path))

    #expect(throws: TokenFailure.self) { try store.add(name: "b", role: .view) }
    #expect(contents == "{")
  }
}
