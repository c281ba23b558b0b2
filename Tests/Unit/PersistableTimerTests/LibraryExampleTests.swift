import Foundation
import PersistableTimer
import Synchronization
import Testing

// MARK: article

/// Counts down, line by line, and says when it is over; a program that was ended meanwhile goes on.
func cook(
  for duration: TimeInterval, in folder: URL, show: @escaping @Sendable (String) -> Void
) async throws {
  let timer = PersistableTimer(id: "tea", dataSourceType: .jsonFiles(directory: folder))
  let ends = timer.countdownEnded
  let label = Task { [states = timer.timeStream] in
    for await state in states { show(state.text) }  // 05:00, 04:59, … 00:00
  }

  var isOver = false
  if timer.isTimerRunning() {
    let run = try timer.restore()
    // Time went on while the program was away; an end that has passed is not told again.
    isOver = run.elapsedTimeAndStatus(now: Date()).time <= 0
  } else {
    try await timer.start(type: .timer(duration: duration))
  }
  if !isOver {
    for await _ in ends { break }  // the countdown gets to zero
  }
  try await timer.finish()  // forgets the timer; its streams end
  await label.value
  show("Tea is ready")
}

// MARK: end

/// The lines that the example has shown.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

@Suite struct `The example of a timer in the article` {
  private let folder = TestFolder()
  private let lines = Lines()

  @Test func `is the one that is compiled here`() throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let example = source.components(separatedBy: "\n// MARK: article\n\n").dropFirst().first?
      .components(separatedBy: "\n// MARK: end").first
    let article = try String(contentsOf: librariesArticle(), encoding: .utf8)

    #expect(article.contains("import PersistableTimer\n\n\(try #require(example))```"))
  }

  @Test func `shows each second and then the end`() async throws {
    let began = ContinuousClock.now

    try await cook(for: 2, in: folder.url) { [lines] in lines.add($0) }

    #expect(ContinuousClock.now - began >= .seconds(1.9))
    // A machine that stands still for a second may leave one out.
    #expect(lines.all.first == "00:02")
    #expect(lines.all.count >= 3)
    #expect(lines.all.last == "Tea is ready")
  }

  @Test func `goes on with a timer that an earlier process has started`() async throws {
    let earlier = PersistableTimer(id: "tea", dataSourceType: .jsonFiles(directory: folder.url))
    try await earlier.start(type: .timer(duration: 1))

    try await cook(for: 86_400, in: folder.url) { [lines] in lines.add($0) }

    #expect(lines.all.last == "Tea is ready")
    #expect(!lines.all.contains("24:00:00"))
  }

  @Test func `ends at once when the end passed while no process ran`() async throws {
    let earlier = PersistableTimer(
      id: "tea", dataSourceType: .jsonFiles(directory: folder.url), now: { Date() - 10 })
    try await earlier.start(type: .timer(duration: 5))

    try await cook(for: 86_400, in: folder.url) { [lines] in lines.add($0) }

    #expect(lines.all.last == "Tea is ready")
    #expect(!earlier.isTimerRunning())
  }
}

/// The article, from the folder of the package.
private func librariesArticle() -> URL {
  let files = FileManager.default
  var folder = URL(fileURLWithPath: #filePath)
  while folder.path != "/",
    !files.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
  {
    folder.deleteLastPathComponent()
  }
  return folder.appendingPathComponent(
    "Sources/PersistableTimer/PersistableTimer.docc/Libraries.md")
}
