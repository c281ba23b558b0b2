import Foundation
import Testing

/// Where the scripts lie that the fuzzer starts from, and those that once brought the server down.
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
