import Foundation
import TimerStorage

// Stores and retrieves values of 300 bytes under 10 000 keys, in a `JSONFileStore` and in `UserDefaults`, in one run on
// one disk: `StoreBenchmark FOLDER`. Compare ratios, not figures of different runs.

let keys = (0..<10_000).map { "key \($0)" }
let value = String(repeating: "0123456789", count: 30)
let folder = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
let suite = "timersync-benchmark-\(UUID().uuidString)"
guard let defaults = UserDefaults(suiteName: suite) else { fatalError("no UserDefaults") }
let store = JSONFileStore(insideDirectory: folder, name: "store-\(UUID().uuidString)") {
  fatalError("\($0)")
}

/// Prints and returns the microseconds that one of `count` repetitions takes.
func cost(_ name: String, of count: Int, _ body: () -> Void) -> Double {
  let took = ContinuousClock().measure(body) / count
  let microseconds = took / .microseconds(1)
  print(name.padding(toLength: 52, withPad: " ", startingAt: 0), rounded(microseconds), "µs")
  return microseconds
}

func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

let inMemory = cost("UserDefaults set, in memory only", of: keys.count) {
  for key in keys { defaults.set(value, forKey: key) }
}
let saved = 100
let toFile = cost("UserDefaults set and synchronize, 10 000 keys there", of: saved) {
  for number in 0..<saved {
    defaults.set(value + "\(number)", forKey: keys[number])
    defaults.synchronize()
  }
}
let defaultsRead = cost("UserDefaults string", of: keys.count) {
  for key in keys where defaults.string(forKey: key) == nil { fatalError(key) }
}
let stored = cost("JSONFileStore store, each on the disk", of: keys.count) {
  for key in keys { store.store(value, forKey: key) }
}
let storedAgain = cost("JSONFileStore store over another value", of: 1000) {
  for key in keys.prefix(1000) { store.store(value + "!", forKey: key) }
}
store.reset()
let bulk = cost("JSONFileStore bulkStore, all in one step", of: keys.count) {
  store.bulkStore(items: Dictionary(uniqueKeysWithValues: keys.map { ($0, value) }))
}
let read = cost("JSONFileStore retrieve", of: keys.count) {
  for key in keys where store.retrieve(type: String.self, forKey: key) == nil { fatalError(key) }
}
print("a value made sure of: store / set and synchronize", rounded(stored / toFile))
print(
  "many values: bulkStore / set and one synchronize",
  rounded(bulk / (inMemory + toFile / Double(keys.count))))
print("retrieve / string", rounded(read / defaultsRead))

store.reset()
defaults.removePersistentDomain(forName: suite)
_ = defaults.synchronize()
let home = FileManager.default.homeDirectoryForCurrentUser
try? FileManager.default.removeItem(at: home.appendingPathComponent(".config/\(suite).plist"))
try? FileManager.default.removeItem(at: store.directory)
