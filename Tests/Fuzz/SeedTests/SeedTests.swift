import Foundation
import Testing

/// The folder of the scripts from which the fuzzer starts, and of those that once crashed the server.
private let folder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("seeds")

private let scripts = (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted()

@Suite struct `A script of the fuzzer` {
  @Test(arguments: scripts ?? [])
  func `is played to its end`(_ name: String) throws {
    let script = try Data(contentsOf: folder.appendingPathComponent(name))

    FuzzedServer.play(script)
  }

  @Test func `is there`() {
    #expect((scripts ?? []).count >= 10)
  }
}
