import Foundation
import PersistableTimer
import Testing

// MARK: README

func cook(in folder: URL) async throws {
  let timer = PersistableTimer(id: "tea", dataSourceType: .jsonFiles(directory: folder))
  let label = Task { [states = timer.timeStream] in
    for await state in states { print(state.text) }  // 05:00, 04:59, …
  }
  let bell = Task { [ends = timer.countdownEnded] in
    for await _ in ends { print("ready") }
  }

  if timer.isTimerRunning() {
    try timer.restore()  // the program was ended meanwhile
  } else {
    try await timer.start(type: .timer(duration: 300))
  }
  try await timer.pause()
  try await timer.resume()
  try await timer.addRemainingTime(60)
  try await timer.finish()  // both streams end
  await label.value
  await bell.value
}

// MARK: end

@Suite struct `The example of a timer in the README` {
  @Test func `is the one that is compiled here`() throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let example = source.components(separatedBy: "\n// MARK: README\n\n").dropFirst().first?
      .components(separatedBy: "\n// MARK: end").first
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let readme = try String(
      contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)

    #expect(readme.contains("import PersistableTimer\n\n\(try #require(example))```"))
  }

  @Test func `runs`() async throws {
    try await cook(in: TestFolder().url)
  }
}
