import Foundation
import PersistableTimer
import Testing

@Suite struct `A container of timers` {
  let container = RestoreTimerContainer(dataSource: InMemoryDataSource())
  let start = Date()

  @Test func `starts a timer exactly when it is told to`() async throws {
    let run = try await container.start(id: "tea", now: start, type: .timer(duration: 10))

    #expect(run == RestoreTimerData(startDate: start, pausePeriods: [], type: .timer(duration: 10)))
    #expect(try container.getTimerData(id: "tea") == run)
  }

  @Test func `holds a timer while it runs and while it is paused, and not after its end`()
    async throws
  {
    #expect(!container.isTimerRunning())
    try await container.start(type: .stopwatch)
    #expect(container.isTimerRunning())
    try await container.pause()
    #expect(container.isTimerRunning())
    try await container.finish()
    #expect(!container.isTimerRunning())
  }

  @Test func `counts what passes outside of pauses`() async throws {
    try await container.start(now: start, type: .stopwatch)
    try await container.pause(now: start + 3)
    try await container.resume(now: start + 10)

    let state = try container.getTimerData().elapsedTimeAndStatus(now: start + 12)

    #expect(state.elapsedTime == 5)
    #expect(state.status == .running)
    #expect(state.pausePeriods == [PausePeriod(pause: start + 3, start: start + 10)])
    #expect(state.lastElapsedTimeCalculatedAt == start + 12)
  }

  @Test func `returns the final state of a timer`() async throws {
    try await container.start(now: start, type: .timer(duration: 10))

    let run = try await container.finish(now: start + 2)

    let state = run.elapsedTimeAndStatus(now: start + 60)
    #expect(run.stopDate == start + 2)
    #expect(state.status == .finished)
    #expect(state.elapsedTime == 2)
    #expect(state.time == 8)
  }

  @Test func `lets an open pause end the count of a finished timer`() async throws {
    try await container.start(now: start, type: .stopwatch)
    try await container.pause(now: start + 2)

    let run = try await container.finish(now: start + 60)

    #expect(run.elapsedTimeAndStatus(now: start + 90).elapsedTime == 2)
    #expect(run.elapsedTimeAndStatus(now: start + 90).status == .finished)
  }

  @Test func `starts anew over a timer only by force`() async throws {
    try await container.start(now: start, type: .stopwatch)

    await #expect(throws: PersistableTimerClientError.timerAlreadyStarted) {
      try await container.start(type: .timer(duration: 5))
    }
    #expect(try container.getTimerData().type == .stopwatch)
    try await container.start(type: .timer(duration: 5), forceStart: true)
    #expect(try container.getTimerData().type == .timer(duration: 5))
  }

  @Test func `refuses what a timer's state does not allow`() async throws {
    await #expect(throws: PersistableTimerClientError.timerHasNotStarted) {
      try await container.pause()
    }
    await #expect(throws: PersistableTimerClientError.timerHasNotStarted) {
      try await container.resume()
    }
    await #expect(throws: PersistableTimerClientError.timerHasNotStarted) {
      try await container.finish()
    }
    await #expect(throws: PersistableTimerClientError.timerHasNotStarted) {
      try await container.addElapsedTime(extraTime: 1)
    }
    #expect(throws: PersistableTimerClientError.timerHasNotStarted) {
      try container.getTimerData()
    }
    try await container.start(type: .stopwatch)
    await #expect(throws: PersistableTimerClientError.timerHasNotPaused) {
      try await container.resume()
    }
    await #expect(throws: PersistableTimerClientError.invalidTimerType) {
      try await container.addRemainingTime(extraTime: 1)
    }
    try await container.pause()
    await #expect(throws: PersistableTimerClientError.timerAlreadyPaused) {
      try await container.pause()
    }
    try await container.start(id: "other", type: .timer(duration: 5))
    await #expect(throws: PersistableTimerClientError.invalidTimerType) {
      try await container.addElapsedTime(id: "other", extraTime: 1)
    }
  }

  @Test(arguments: [-1, 0, -0.0, 1e-9, .infinity, -.infinity, .nan, 31_536_001] as [Double])
  func `refuses a duration that is none, and says so`(_ duration: Double) async throws {
    let error = await #expect(throws: TimerDataError.self) {
      try await container.start(type: .timer(duration: duration))
    }

    #expect(error?.localizedDescription.contains("duration") == true)
    #expect(!container.isTimerRunning())
  }

  @Test func `never lets elapsed time shrink when the clock steps back in a pause`() async throws {
    try await container.start(now: start, type: .stopwatch)
    try await container.pause(now: start + 10)

    let run = try await container.resume(now: start + 4)

    #expect(run.elapsedTimeAndStatus(now: start + 4).elapsedTime == 10)
    #expect(run.elapsedTimeAndStatus(now: start + 5).elapsedTime == 11)
  }

  @Test func `never returns an elapsed time under zero`() async throws {
    let run = try await container.start(now: start, type: .stopwatch)

    #expect(run.elapsedTimeAndStatus(now: start + -5).elapsedTime == 0)
  }

  @Test func `pauses a thousand times in under a second`() async throws {
    try await container.start(now: start, type: .stopwatch)
    let clock = ContinuousClock()

    // The median of fifty parts: other tests run beside this one, on a machine that may be busy.
    var parts: [Duration] = []
    for part in 0..<50 {
      parts.append(
        try await clock.measure {
          for second in (20 * part + 1)...(20 * part + 20) {
            try await container.pause(now: start + Double(2 * second))
            try await container.resume(now: start + Double(2 * second + 1))
          }
        })
    }
    let took = parts.sorted()[parts.count / 2] * parts.count

    let elapsed = try container.getTimerData().elapsedTimeAndStatus(now: start + 2001).elapsedTime
    #expect(elapsed == 1001)
    #expect(took < .seconds(1))
  }
}

@Suite struct `Added time` {
  let container = RestoreTimerContainer(dataSource: InMemoryDataSource())
  let start = Date()

  private func remaining(_ seconds: Double) throws -> Double {
    try container.getTimerData().elapsedTimeAndStatus(now: start + seconds).time
  }

  @Test func `makes a countdown longer, and its elapsed time stays`() async throws {
    try await container.start(now: start, type: .timer(duration: 10))

    let run = try await container.addRemainingTime(extraTime: 5, now: start + 2)

    #expect(run.type == .timer(duration: 15))
    #expect(run.elapsedTimeAndStatus(now: start + 2).elapsedTime == 2)
    #expect(try remaining(2) == 13)
  }

  @Test func `counts in a pause too`() async throws {
    try await container.start(now: start, type: .timer(duration: 10))
    try await container.pause(now: start + 4)

    try await container.addRemainingTime(extraTime: -6, now: start + 60)

    #expect(try remaining(60) == 0)
    #expect(try container.getTimerData().elapsedTimeAndStatus(now: start + 60).elapsedTime == 4)
  }

  @Test(arguments: [-6.000001, -100, -.infinity, .nan, .infinity, 1e300] as [Double])
  func `is refused where the time left would be under zero or none`(_ amount: Double) async throws {
    try await container.start(now: start, type: .timer(duration: 10))
    try await container.pause(now: start + 4)

    let error = await #expect(throws: TimerDataError.self) {
      try await container.addRemainingTime(extraTime: amount, now: start + 60)
    }

    #expect(error?.localizedDescription.contains("nearest") == true)
    #expect(try remaining(60) == 6)
  }

  @Test func `starts from the true time left in overtime`() async throws {
    try await container.start(now: start, type: .timer(duration: 10))

    try await container.addRemainingTime(extraTime: 20, now: start + 15)

    #expect(try remaining(15) == 15)
  }

  @Test func `sets a stopwatch on and back`() async throws {
    try await container.start(now: start, type: .stopwatch)

    try await container.addElapsedTime(extraTime: 5, now: start + 3)
    #expect(try remaining(3) == 8)
    try await container.addElapsedTime(extraTime: -8, now: start + 3)
    #expect(try remaining(4) == 1)
  }

  @Test func `is refused for a stopwatch where it would be under zero, and counting goes on`()
    async throws
  {
    try await container.start(now: start, type: .stopwatch)

    await #expect(throws: TimerDataError.invalidAmount(-10, nearest: -3)) {
      try await container.addElapsedTime(extraTime: -10, now: start + 3)
    }

    #expect(try remaining(3) == 3)
    #expect(try remaining(4) == 4)
  }
}

@Suite struct `Ids of timers` {
  let container = RestoreTimerContainer(dataSource: InMemoryDataSource())

  @Test(arguments: [
    ["kitchen", "user_1"], ["1", "user_1"], ["a", "b_a", "_a"], ["_", "", "a_", "a"],
    ["persistableTimerKey", "persistableTimerKey_x"], ["caf\u{E9} 🍵/.."],
  ])
  func `are kept apart, and returned by finishAll`(_ ids: [String]) async throws {
    for id in ids { try await container.start(id: id, type: .stopwatch) }
    try await container.start(type: .timer(duration: 5))

    try await container.pause(id: ids[0])
    let finished = try await container.finishAll()

    #expect(Set(finished.keys) == Set(ids + [nil]))
    #expect(finished.values.allSatisfy { $0.stopDate != nil })
    #expect(finished[ids[0]]?.pausePeriods.count == 1)
    #expect(finished.values.filter { !$0.pausePeriods.isEmpty }.count == 1)
    for id in ids { #expect(!container.isTimerRunning(id: id)) }
    #expect(!container.isTimerRunning())
  }

  @Test func `that do not exist make finishAll return nothing`() async throws {
    #expect(try await container.finishAll().isEmpty)
  }
}

@Suite struct `Two operations at once` {
  private static let sources = ["memory", "defaults", "files"]

  private struct Place {
    let folder = TestFolder()
    let defaults = TestDefaults()

    func container(_ source: String) -> RestoreTimerContainer {
      switch source {
      case "files": RestoreTimerContainer(dataSourceType: .jsonFiles(directory: folder.url))
      case "defaults": RestoreTimerContainer(userDefaults: defaults.defaults)
      default: RestoreTimerContainer(dataSourceType: .inMemory)
      }
    }
  }

  @Test(arguments: sources)
  func `have one winner, and the other gets its error`(_ source: String) async throws {
    let place = Place()
    let container = place.container(source)
    for round in 1...20 {
      let id = "\(round)"
      try await container.start(id: id, type: .stopwatch)

      let results = await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask { () async -> PersistableTimerClientError? in
            do { try await container.pause(id: id) } catch {
              return error as? PersistableTimerClientError
            }
            return nil
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }

      #expect(results.count == 2 && results.contains(nil))
      #expect(results.contains(.timerAlreadyPaused))
      #expect(try container.getTimerData(id: id).pausePeriods.count == 1)
    }
  }

  @Test(arguments: sources)
  func `lose nothing`(_ source: String) async throws {
    let place = Place()
    let container = place.container(source)
    // Another container may use the same stored place at the same time, where there is one.
    let other = source == "memory" ? container : place.container(source)
    for round in 1...20 {
      let id = "\(round)"
      try await container.start(id: id, type: .timer(duration: 100))

      async let first = container.addRemainingTime(id: id, extraTime: 60)
      async let second = other.addRemainingTime(id: id, extraTime: 30)
      _ = try await (first, second)

      #expect(try container.getTimerData(id: id).type == .timer(duration: 190))
    }
  }
}
