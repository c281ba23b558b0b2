import Dispatch
import Foundation
import Synchronization
import Testing

@testable import TimerStorage

@Suite struct `A file of tokens` {
  private let folder = TemporaryFolder()
  private var file: TokenFile { TokenFile(dataFolder: folder.path) }
  private let record = TokenRecord(
    name: "stage", role: "control", timers: ["tea", "kitchen*"],
    expires: Date(timeIntervalSince1970: 1_764_480_060), sha256: String(repeating: "0", count: 64))

  private func mode(_ path: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test func `is not there at first`() throws {
    #expect(try file.load() == nil)
  }

  @Test func `gives back what was kept`() throws {
    try file.change { tokens in
      tokens.append(record)
      return true
    }

    #expect(try file.load() == [record])
  }

  @Test func `may be read by its owner alone, also when it is replaced`() throws {
    for _ in 1...2 {
      try file.change { tokens in
        tokens.append(record)
        return true
      }
      #expect(try mode(file.path) == 0o600)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    }
  }

  @Test func `is no timer's file`() throws {
    try file.change { tokens in
      tokens.append(record)
      return true
    }

    let names = try JSONFolder(path: folder.path).fileNames()

    #expect(names.isEmpty)
  }

  @Test func `leaves nothing beside it`() throws {
    try file.change { tokens in
      tokens.append(record)
      return true
    }

    let inside = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/.timersync")
    #expect(inside == ["tokens.json"])
  }

  @Test func `stays as it was when nothing is to be changed`() throws {
    try file.change { _ in false }

    #expect(try file.load() == nil)
  }

  @Test func `is not changed by two at once`() async throws {
    let file = file
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          try file.change { tokens in
            tokens.append(TokenRecord(name: "\(number)", role: "view", sha256: "0"))
            return true
          }
        }
      }
      try await group.waitForAll()
    }

    #expect(try file.load()?.count == 20)
  }

  @Test(arguments: [
    "", "{", "[]", "{}", #"{"version":2,"tokens":[]}"#, #"{"version":1}"#,
    #"{"version":1,"tokens":[{"name":"a"}]}"#,
    #"{"version":1,"tokens":[{"name":"a","role":"view","sha256":7}]}"#,
    #"{"version":1,"tokens":[{"name":"a","role":"view","sha256":"x","expires":"soon"}]}"#,
  ])
  func `says what is wrong with it`(_ contents: String) throws {
    try folder.makeFolder(".timersync")
    try folder.write(contents, to: ".timersync/tokens.json")

    #expect(throws: TokenFileError.self) { try file.load() }
  }

  @Test func `has no contents in its errors`() throws {
    try folder.makeFolder(".timersync")
    try folder.write(
      #"{"version":1,"tokens":[{"name":"a","role":"view","sha256":["hush"]}]}"#,
      to: ".timersync/tokens.json")

    let error = #expect(throws: TokenFileError.self) { try file.load() }

    #expect(
      error.map { "\($0)" }
        == "it is no list of tokens: tokens, entry 1, sha256 is missing or of a wrong type")
  }
}

@Suite struct `A watch on a file of tokens` {
  private let folder = TemporaryFolder()

  /// Waits until the deliveries so far satisfy a condition.
  private func wait(_ condition: () -> Bool) async throws {
    for _ in 0..<3000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
    #expect(condition())
  }

  @Test func `reports tokens that are added and removed`() async throws {
    let file = TokenFile(path: folder.path("tokens"))
    let told = Mutex<[Result<[TokenRecord]?, TokenFileError>]>([])
    let watch = try TokenFileWatch(file) { contents in told.withLock { $0.append(contents) } }

    try file.change { tokens in
      tokens.append(TokenRecord(name: "a", role: "view", sha256: "0"))
      return true
    }
    try await wait { told.withLock { (try? $0.last?.get())??.count == 1 } }
    try folder.write("oops", to: "tokens")
    try await wait {
      told.withLock {
        $0.last == .failure(.malformed("not the JSON of {\"version\":1,\"tokens\":[…]}"))
      }
    }
    try folder.remove("tokens")
    try await wait { told.withLock { $0.last == .success(nil) } }

    withExtendedLifetime(watch) {}
  }

  @Test func `reports nothing for other files`() async throws {
    let file = TokenFile(path: folder.path("tokens"))
    let told = Mutex(0)
    let watch = try TokenFileWatch(file) { _ in told.withLock { $0 += 1 } }

    try folder.write("{}", to: "other")
    try await wait { told.withLock { $0 == 1 } }
    try folder.write("{}", to: "another")
    try await Task.sleep(for: .milliseconds(100))

    #expect(told.withLock { $0 } == 1)
    withExtendedLifetime(watch) {}
  }

  /// A watch that has delivered one token, in a folder of its own, with its later deliveries.
  private func watch(
    recheckDelay: DispatchTimeInterval
  ) throws -> (watch: TokenFileWatch, told: Told) {
    let file = TokenFile(path: folder.path("etc/tokens"))
    try file.change { tokens in
      tokens.append(TokenRecord(name: "a", role: "view", sha256: "0"))
      return true
    }
    let told = Told()
    let watch = TokenFileWatch(file, recheckDelay: recheckDelay) { told.add($0) }
    try #require(try watch.load()?.count == 1)
    return (watch, told)
  }

  private final class Told: Sendable {
    private let all = Mutex<[TokenFileContents]>([])

    func add(_ contents: TokenFileContents) { all.withLock { $0.append(contents) } }

    /// The number of tokens in each delivery; -1: the file could not be read.
    var counts: [Int] {
      all.withLock { all in all.map { (try? $0.get().map(\.count) ?? 0) ?? -1 } }
    }
  }

  private func move(_ from: String, _ target: String) throws {
    try FileManager.default.moveItem(atPath: folder.path(from), toPath: folder.path(target))
  }

  @Test func `reports nothing for a file that is gone for a moment`() async throws {
    let (watch, told) = try watch(recheckDelay: .seconds(3_600))
    let asked = Told()

    try move("etc/tokens", "x")
    watch.read { asked.add($0) }
    try await Task.sleep(for: .milliseconds(50))
    try move("x", "etc/tokens")
    try await wait { !asked.counts.isEmpty }

    #expect(asked.counts == [1])
    #expect(told.counts == [])
  }

  @Test(arguments: [nil, "oops"])
  func `reports tokens that are back after it reported them gone`(
    _ between: String?
  ) async throws {
    let (watch, told) = try watch(recheckDelay: .milliseconds(20))
    let asked = Told()

    try move("etc/tokens", "x")
    if let between { try folder.write(between, to: "etc/tokens") }
    watch.read { asked.add($0) }
    try await wait { (asked.counts + told.counts).contains(between == nil ? 0 : -1) }
    if between != nil { try folder.remove("etc/tokens") }
    try move("x", "etc/tokens")

    try await wait { told.counts.last == 1 }
    withExtendedLifetime(watch) {}
  }

  @Test func `answers every read, whether or not the file has changed`() async throws {
    let (watch, told) = try watch(recheckDelay: .milliseconds(20))
    let asked = Told()

    for count in 1...2 {
      watch.read { asked.add($0) }
      try await wait { asked.counts.count == count }
    }
    try folder.remove("etc/tokens")
    try await wait { told.counts == [0] }
    watch.read { asked.add($0) }

    try await wait { asked.counts == [1, 1, 0] }
  }

  @Test func `can't tell what is gone while the folder is`() async throws {
    let (watch, told) = try watch(recheckDelay: .milliseconds(20))

    try move("etc", "elsewhere")
    try await wait { told.counts == [-1] }
    try move("elsewhere", "etc")
    try await wait { told.counts == [-1, 1] }
    try folder.remove("etc/tokens")
    try await wait { told.counts == [-1, 1, 0] }

    withExtendedLifetime(watch) {}
  }

  @Test func `needs a folder`() {
    #expect(throws: DiskError.self) {
      try TokenFileWatch(TokenFile(path: folder.path("none/tokens"))) { _ in }
    }
  }
}
