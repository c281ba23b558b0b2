import Foundation
import PersistableTimer
import TimerStorage

// A program that uses the libraries, for tests of several processes: `LibraryProcess FOLDER`. Each line that it
// reads is a command, each answered by one line.

let folder = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
let store = JSONFileStore(insideDirectory: folder, name: "store")
say("ready")
while let line = readLine() {
  let words = line.split(separator: " ").map(String.init)
  do {
    say(try await answer(to: words))
  } catch {
    say("error \(error)")
  }
}

func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func answer(to words: [String]) async throws -> String {
  switch (words[0], words.dropFirst().map(\.self)) {
  case ("get", let words):
    return try store.retrieveOrThrow(type: String.self, forKey: words[0]) ?? "none"
  case ("store", let words):
    try store.storeOrThrow(words[1], forKey: words[0])
  case ("remove", let words):
    try store.storeOrThrow(nil, forKey: words[0])
  case ("bulk", let words):
    try store.bulkStoreOrThrow(
      items: Dictionary(uniqueKeysWithValues: words.dropFirst().map { ($0, words[0]) }))
  case ("bulks", let words):
    // Until it is killed; the steps have growing numbers.
    for step in (Int(words[0]) ?? 1)... {
      try store.bulkStoreOrThrow(
        items: Dictionary(uniqueKeysWithValues: words.dropFirst().map { ($0, "\(step)") }))
    }
  case ("increment", let words):
    var sum = 0
    for _ in 0..<(Int(words[1]) ?? 1) { sum = try store.incrementIntegerOrThrow(forKey: words[0]) }
    return "\(sum)"
  case ("keys", _):
    return store.allKeys.joined(separator: " ")
  case ("change", let words):
    // Prints that it listens, then waits for the next change that another process makes.
    let changes = store.changes
    say("listening")
    for await change in changes where change.origin == .elsewhere {
      return "\(change.kind) \(change.key) \(words.joined())"
    }
  case ("start", _):
    let timers = RestoreTimerContainer(dataSourceType: .jsonFiles(directory: folder))
    return "\(try await timers.start(type: .timer(duration: 100)).type)"
  case ("pause", _):
    let timers = RestoreTimerContainer(dataSourceType: .jsonFiles(directory: folder))
    return "\(try await timers.pause().pausePeriods.count)"
  case ("add", let words):
    let timers = RestoreTimerContainer(dataSourceType: .jsonFiles(directory: folder))
    let amount = Double(words[0]) ?? 0
    for _ in 0..<(Int(words[1]) ?? 1) { try await timers.addRemainingTime(extraTime: amount) }
    return "\(try timers.getTimerData().type)"
  case ("timers", let words):
    return try await runAndDrop(Int(words[0]) ?? 1)
  default:
    return "error no such command"
  }
  return "ok"
}

/// Threads and open files after many timers have come, ticked and gone, and before.
func runAndDrop(_ count: Int) async throws -> String {
  try await run(4)
  let before = "\(entries("task")) \(entries("fd"))"
  try await run(count)
  try await Task.sleep(for: .milliseconds(200))
  return "\(before) \(entries("task")) \(entries("fd"))"
}

func run(_ count: Int) async throws {
  var streams: [AsyncStream<TimerState>] = []
  do {
    var timers: [PersistableTimer] = []
    for number in 0..<count {
      let timer = PersistableTimer(
        id: "\(number)", dataSourceType: .jsonFiles(directory: folder), updateInterval: 0.01)
      streams.append(timer.timeStream)
      streams.append(timer.countdownEnded)
      try await timer.start(type: .timer(duration: 100), forceStart: true)
      timers.append(timer)
    }
    try await Task.sleep(for: .milliseconds(100))
    withExtendedLifetime(timers) {}
  }
  // Each stream ends, since its timer is gone.
  for stream in streams { for await _ in stream {} }
}

func entries(_ kind: String) -> Int {
  ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(kind)")) ?? []).count
}
