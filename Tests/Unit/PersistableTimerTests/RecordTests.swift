import Foundation
import PersistableTimer
import Testing

@Suite struct `Records of timers in defaults` {
  let place = TestDefaults()

  @Test func `are found again by another container`() async throws {
    let run = try await RestoreTimerContainer(userDefaults: place.defaults)
      .start(id: "tea", type: .timer(duration: 10))

    #expect(
      try RestoreTimerContainer(userDefaults: place.defaults).getTimerData(id: "tea") == run)
  }

  @Test func `have the names and the shape that users of the format know`() async throws {
    let record = #"{"startDate":0,"pausePeriods":[{"pause":5}],"type":{"timer":{"duration":9}}}"#
    place.defaults.set(Data(record.utf8), forKey: "persistableTimerKey_tea")

    let run = try RestoreTimerContainer(userDefaults: place.defaults).getTimerData(id: "tea")

    let state = run.elapsedTimeAndStatus(now: Date(timeIntervalSinceReferenceDate: 100))
    #expect(state.status == .paused)
    #expect(state.time == 4)
  }

  @Test func `leave what is no timer alone`() async throws {
    place.defaults.set("mine", forKey: "persistableTimerKeyboard")
    let container = RestoreTimerContainer(userDefaults: place.defaults)
    try await container.start(type: .stopwatch)

    let finished = try await container.finishAll()

    #expect(Array(finished.keys) == [nil])
    #expect(place.defaults.string(forKey: "persistableTimerKeyboard") == "mine")
  }
}

@Suite struct `A damaged record` {
  let folder = TestFolder()
  let container: RestoreTimerContainer
  private let file: URL
  private let damage = #"{"startDate":"#

  init() async throws {
    container = RestoreTimerContainer(dataSourceType: .jsonFiles(directory: folder.url))
    file = folder.url.appendingPathComponent("persistableTimerKey_tea.json")
    try Data(damage.utf8).write(to: file)
  }

  private var isUntouched: Bool {
    get throws { try Data(contentsOf: file) == Data(damage.utf8) }
  }

  @Test func `is not overwritten by start`() async throws {
    let error = await #expect(throws: TimerDataError.self) {
      try await container.start(id: "tea", type: .stopwatch)
    }

    #expect(error?.localizedDescription.contains("\"tea\"") == true)
    #expect(try isUntouched)
  }

  @Test func `is reported by every other operation, and left as it is`() async throws {
    #expect(throws: TimerDataError.self) { try container.getTimerData(id: "tea") }
    await #expect(throws: TimerDataError.self) { try await container.pause(id: "tea") }
    await #expect(throws: TimerDataError.self) { try await container.finish(id: "tea") }
    #expect(!container.isTimerRunning(id: "tea"))
    #expect(try isUntouched)
  }

  @Test func `costs no other timer`() async throws {
    try await container.start(id: "rice", type: .stopwatch)

    let finished = try await container.finishAll()

    #expect(Array(finished.keys) == ["rice"])
    #expect(try isUntouched)
  }

  @Test func `is replaced by a start with force`() async throws {
    try await container.start(id: "tea", type: .stopwatch, forceStart: true)

    #expect(try container.getTimerData(id: "tea").type == .stopwatch)
  }
}

@Suite struct `Timers in JSON files` {
  let folder = TestFolder()

  @Test func `are a file each, under a name that tells the id`() async throws {
    let container = RestoreTimerContainer(dataSourceType: .jsonFiles(directory: folder.url))
    try await container.start(id: "user_1", type: .stopwatch)

    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(files.filter { $0.hasSuffix(".json") } == ["persistableTimerKey_user_1.json"])
    try await container.finish(id: "user_1")
    let rest = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(rest.filter { $0.hasSuffix(".json") } == [])
  }

  @Test func `go on after a restart`() async throws {
    let clock = TestClock()
    do {
      let timer = PersistableTimer(
        dataSourceType: .jsonFiles(directory: folder.url), now: { clock.now })
      try await timer.start(type: .timer(duration: 100))
    }
    clock.advance(30)

    let timer = PersistableTimer(
      dataSourceType: .jsonFiles(directory: folder.url), now: { clock.now })
    var states = timer.timeStream.makeAsyncIterator()
    try timer.restore()

    #expect(await states.next()?.time == 70)
  }
}
