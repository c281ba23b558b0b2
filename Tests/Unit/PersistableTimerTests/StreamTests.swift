import Foundation
import Synchronization
import Testing

@testable import PersistableTimer

/// All states that a stream has delivered so far.
private final class Heard: Sendable {
  private let states = Mutex<[TimerState]>([])
  private let isOver = Mutex(false)
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ stream: AsyncStream<TimerState>) {
    let task = Task {
      for await state in stream { states.withLock { $0.append(state) } }
      isOver.withLock { $0 = true }
    }
    self.task.withLock { $0 = task }
  }

  var all: [TimerState] { states.withLock { $0 } }
  var hasEnded: Bool { isOver.withLock { $0 } }
  func cancel() { task.withLock { $0?.cancel() } }
}

/// Waits up to half a minute for a condition.
private func eventually(_ condition: () -> Bool) async throws -> Bool {
  for _ in 0..<3000 {
    if condition() { return true }
    try await Task.sleep(for: .milliseconds(10))
  }
  return condition()
}

/// The seconds by which the end of each of some sleeps is late.
private func latenessOfSleeps(count: Int, seconds: Double) async throws -> [Double] {
  var lateness: [Double] = []
  for _ in 0..<count {
    let took = try await ContinuousClock().measure {
      try await Task.sleep(for: .seconds(seconds), tolerance: .zero)
    }
    lateness.append(took / .seconds(1) - seconds)
  }
  return lateness
}

extension [Double] {
  fileprivate var median: Double { sorted()[count / 2] }
}

@Suite struct `The stream of a timer` {
  private let clock = TestClock()

  private func timer(_ interval: TimeInterval = 3600) -> PersistableTimer {
    PersistableTimer(
      dataSourceType: .inMemory, updateInterval: interval, now: { [clock] in clock.now })
  }

  @Test func `goes on from before start through pauses, and ends with finish`() async throws {
    let timer = timer()
    let heard = Heard(timer.timeStream)

    try await timer.start(type: .timer(duration: 100))
    try await timer.pause()
    clock.advance(60)
    try await timer.resume()
    clock.advance(10)
    try await timer.finish()

    #expect(try await eventually { heard.hasEnded })
    #expect(heard.all.map(\.status) == [.running, .paused, .running, .finished])
    #expect(heard.all.map(\.time) == [100, 100, 100, 90])
  }

  @Test func `gives each of two consumers every state`() async throws {
    let timer = timer()
    let both = [Heard(timer.timeStream), Heard(timer.timeStream)]

    try await timer.start(type: .stopwatch)
    for _ in 1...20 {
      try await timer.addElapsedTime(1)
    }
    try await timer.finish()

    #expect(try await eventually { both.allSatisfy(\.hasEnded) })
    for heard in both { #expect(heard.all.map(\.time) == Array(0...20).map(Double.init) + [20]) }
  }

  @Test func `begins with the present state where there is one`() async throws {
    let timer = timer()
    try await timer.start(type: .timer(duration: 100))
    clock.advance(4)

    let heard = Heard(timer.timeStream)

    #expect(try await eventually { heard.all.map(\.time) == [96] })
  }

  @Test func `shows added time in each later state`() async throws {
    let timer = PersistableTimer(dataSourceType: .inMemory, updateInterval: 0.05)
    let heard = Heard(timer.timeStream)
    try await timer.start(type: .timer(duration: 100))
    #expect(try await eventually { heard.all.count > 4 })

    try await timer.addRemainingTime(50)

    #expect(try await eventually { heard.all.count { $0.type == .timer(duration: 150) } > 5 })
    let types = heard.all.map(\.type)
    let added = try #require(types.firstIndex(of: .timer(duration: 150)))
    #expect(added > 2)
    #expect(types[added...].allSatisfy { $0 == .timer(duration: 150) })
  }

  @Test func `can show no time elapsed at the end`() async throws {
    let timer = timer()
    let heard = Heard(timer.timeStream)
    try await timer.start(type: .stopwatch)
    clock.advance(5)

    let run = try await timer.finish(isResetTime: true)

    #expect(try await eventually { heard.hasEnded })
    #expect(heard.all.last?.time == 0)
    #expect(run.elapsedTimeAndStatus(now: clock.now).elapsedTime == 5)
  }

  @Test func `is not ended by a call that is refused`() async throws {
    let timer = timer()
    let heard = Heard(timer.timeStream)

    await #expect(throws: PersistableTimerClientError.timerHasNotStarted) {
      try await timer.finish()
    }
    try await timer.start(type: .stopwatch)

    #expect(try await eventually { heard.all.count == 1 })
    #expect(!heard.hasEnded)
  }

  @Test func `is another one for the next run`() async throws {
    let timer = timer()
    try await timer.start(type: .stopwatch)
    try await timer.finish()
    let heard = Heard(timer.timeStream)

    try await timer.start(type: .timer(duration: 7))

    #expect(try await eventually { heard.all.map(\.time) == [7] })
  }

  @Test func `ticks at the timer's own whole seconds`() async throws {
    let timer = PersistableTimer(dataSourceType: .inMemory, updateInterval: 0.25)
    let heard = Heard(timer.timeStream)
    let usual = Task { try await latenessOfSleeps(count: 13, seconds: 0.25) }

    try await timer.start(type: .timer(duration: 100.1))

    #expect(try await eventually { heard.all.count >= 14 })
    // How long after its quarter each state came; an early state counts as late by nearly as much. On a busy machine
    // some are late, as every program is that sleeps.
    let lateness = heard.all.dropFirst().map { state in
      let quarters = (state.time * 4).rounded(.up) / 4
      return quarters - state.time
    }
    #expect(try await lateness.median < 0.1 + usual.value.median)
  }

  @Test func `does not tick in a pause`() async throws {
    let timer = PersistableTimer(dataSourceType: .inMemory, updateInterval: 0.01)
    let heard = Heard(timer.timeStream)
    try await timer.start(type: .stopwatch)
    #expect(try await eventually { heard.all.count > 3 })

    try await timer.pause()
    #expect(try await eventually { heard.all.last?.status == .paused })
    let count = heard.all.count
    try await Task.sleep(for: .milliseconds(200))

    #expect(heard.all.count == count)
    try await timer.resume()
    #expect(try await eventually { heard.all.count > count + 3 })
  }

  @Test func `sends no ticks where none are requested`() async throws {
    let timer = PersistableTimer(
      dataSourceType: .inMemory, shouldEmitTimeStream: false, useFoundationTimer: true)
    let heard = Heard(timer.timeStream)

    try await timer.start(type: .stopwatch)

    #expect(try await eventually { heard.hasEnded })
    #expect(heard.all.isEmpty)
    #expect(timer.isTimerRunning())
  }

  @Test func `ends when somebody else finishes the timer`() async throws {
    let place = TestFolder()
    let timers = [1, 2].map { _ in
      PersistableTimer(
        dataSourceType: .jsonFiles(directory: place.url), updateInterval: 0.02)
    }
    let heard = Heard(timers[0].timeStream)
    try await timers[0].start(type: .stopwatch)

    try await timers[1].finish()

    #expect(try await eventually { heard.hasEnded })
    #expect(!timers[0].isTimerRunning())
  }
}

@Suite struct `The end of a countdown` {
  private let clock = TestClock()

  private func timer(_ source: DataSourceType = .inMemory) -> PersistableTimer {
    PersistableTimer(dataSourceType: source, updateInterval: 0.01, now: { [clock] in clock.now })
  }

  @Test func `is reported once, at zero`() async throws {
    let timer = PersistableTimer(dataSourceType: .inMemory, updateInterval: 0.05)
    let ends = Heard(timer.countdownEnded)
    let began = Date()
    try await timer.start(type: .timer(duration: 0.3))

    #expect(try await eventually { ends.all.count == 1 })
    let late = Date().timeIntervalSince(began) - 0.3
    try await Task.sleep(for: .milliseconds(300))

    #expect(ends.all.map(\.time) == [0])
    #expect(late >= 0)
    try await timer.finish()
    #expect(try await eventually { ends.hasEnded })
  }

  @Test func `is reported without any other listener, and with no ticks`() async throws {
    let timer = PersistableTimer(
      dataSourceType: .inMemory, shouldEmitTimeStream: false, updateInterval: 3600)
    let ends = Heard(timer.countdownEnded)

    try await timer.start(type: .timer(duration: 0.1))

    #expect(try await eventually { ends.all.count == 1 })
  }

  @Test func `is reported again for another zero`() async throws {
    let timer = timer()
    let ends = Heard(timer.countdownEnded)
    try await timer.start(type: .timer(duration: 10))

    // The stream finds the zero although the clock jumps over it.
    clock.advance(11)
    #expect(try await eventually { ends.all.count == 1 })
    try await timer.addRemainingTime(5)
    clock.advance(4)
    #expect(try await eventually { ends.all.count == 2 })
  }

  @Test func `is not reported for a countdown that was finished or paused before`() async throws {
    let timer = timer()
    let ends = Heard(timer.countdownEnded)
    try await timer.start(type: .timer(duration: 10))

    clock.advance(9)
    try await timer.pause()
    clock.advance(9)
    try await Task.sleep(for: .milliseconds(50))

    #expect(ends.all.isEmpty)
    try await timer.finish()
    #expect(try await eventually { ends.hasEnded })
    #expect(ends.all.isEmpty)
  }

  @Test func `is not reported for a stopwatch`() async throws {
    let timer = timer()
    let ends = Heard(timer.countdownEnded)
    try await timer.start(type: .stopwatch)

    clock.advance(100)
    try await timer.finish()

    #expect(try await eventually { ends.hasEnded })
    #expect(ends.all.isEmpty)
  }

  @Test func `that passed before a restart is not reported again`() async throws {
    let place = TestFolder()
    try await timer(.jsonFiles(directory: place.url)).start(type: .timer(duration: 10))
    clock.advance(20)

    let timer = timer(.jsonFiles(directory: place.url))
    let (times, ends) = (Heard(timer.timeStream), Heard(timer.countdownEnded))
    try timer.restore()

    #expect(try await eventually { times.all.last?.time == -10 })
    #expect(ends.all.isEmpty)
  }

  @Test func `is reported before the pause that follows it`() async throws {
    let timer = PersistableTimer(
      dataSourceType: .inMemory, updateInterval: 3600, now: { [clock] in clock.now })
    let ends = Heard(timer.countdownEnded)
    try await timer.start(type: .timer(duration: 10))

    clock.advance(12)
    try await timer.pause()

    #expect(try await eventually { ends.all.map(\.time) == [0] })
  }
}

@Suite struct `A timer that is gone` {
  @Test func `leaves nothing behind`() async throws {
    weak var timer: PersistableTimer?
    weak var engine: TimerEngine?
    var heard: [Heard] = []
    do {
      let made = PersistableTimer(dataSourceType: .inMemory, updateInterval: 0.01)
      (timer, engine) = (made, made.engine)
      heard = [Heard(made.timeStream), Heard(made.countdownEnded)]
      try await made.start(type: .timer(duration: 100))
      #expect(try await eventually { heard[0].all.count > 3 })
    }

    #expect(timer == nil)
    #expect(try await eventually { engine == nil })
    #expect(try await eventually { heard.allSatisfy(\.hasEnded) })
  }

  @Test func `was not retained by listeners that stopped`() async throws {
    weak var engine: TimerEngine?
    do {
      let made = PersistableTimer(dataSourceType: .inMemory, updateInterval: 0.01)
      engine = made.engine
      let heard = Heard(made.timeStream)
      try await made.start(type: .stopwatch)
      #expect(try await eventually { heard.all.count > 3 })
      heard.cancel()
      #expect(try await eventually { heard.hasEnded })
      try await made.pause()
    }

    #expect(try await eventually { engine == nil })
  }
}
