import Foundation
import Synchronization
import TimerCore

/// The source of the current time. Its closure is the user's, who gave it to be called on any thread.
struct Clock: @unchecked Sendable {
  let now: () -> Date
}

/// The implementation of a `PersistableTimer`: its streams, and the task that ticks while a timer runs and has
/// listeners.
final class TimerEngine: Sendable {
  private let id: String?
  private let runs: TimerRuns
  private let emitsTimes: Bool
  private let interval: Seconds
  private let clock: Clock
  private let state = Mutex(State())

  private struct State {
    /// The run as it was seen last; nil while none was started or restored here.
    var run: RestoreTimerData?
    var streams = Streams()
    /// The last zero that was sent to `ends`.
    var reportedZero: Instant?
    var ticker: Ticker?
    var tickersEver = 0
  }

  private struct Streams {
    var times = Broadcast<TimerState>()
    var ends = Broadcast<TimerState>()

    var haveListeners: Bool { times.hasListeners || ends.hasListeners }

    subscript(_ kind: Kind) -> Broadcast<TimerState> {
      get { kind == .times ? times : ends }
      set { if kind == .times { times = newValue } else { ends = newValue } }
    }

    mutating func removeAll() -> [AsyncStream<TimerState>.Continuation] {
      times.removeAll() + ends.removeAll()
    }
  }

  private enum Kind {
    case times, ends
  }

  private struct Ticker {
    let number: Int
    let task: Task<Void, Never>
    /// When the next state or the zero is due.
    var due: Instant?
    var isTickDue = false
  }

  /// A zero is waited for in parts, since the clock may be set meanwhile.
  private static let zeroWaitMax: Seconds = 1

  /// A wake-up this early is no tick yet: the clock of the timer and the one that wakes the task differ by little. A
  /// test's clock may differ by more; then ticks only follow the clock that wakes.
  private static let earlyMax: Seconds = 0.05

  init(id: String?, runs: TimerRuns, emitsTimes: Bool, interval: TimeInterval, clock: Clock) {
    self.id = id
    self.runs = runs
    self.emitsTimes = emitsTimes
    self.interval = interval > 0 ? max(Seconds(clamping: interval), 0.001) : 1
    self.clock = clock
  }

  // MARK: Streams

  func times() -> AsyncStream<TimerState> {
    let (stream, continuation) = AsyncStream.makeStream(of: TimerState.self)
    guard emitsTimes else {
      continuation.finish()
      return stream
    }
    listen(continuation, .times) { state in
      if let run = state.run { continuation.yield(run.elapsedTimeAndStatus(now: clock.now())) }
    }
    return stream
  }

  func ends() -> AsyncStream<TimerState> {
    let (stream, continuation) = AsyncStream.makeStream(of: TimerState.self)
    // The first listener receives an end that had no listener before.
    listen(continuation, .ends) { state in reportZero(&state, at: Instant(clock.now())) }
    return stream
  }

  private func listen(
    _ continuation: AsyncStream<TimerState>.Continuation, _ kind: Kind,
    _ sendFirst: (inout State) -> Void
  ) {
    let number = state.withLock { state in
      let number = state.streams[kind].add(continuation)
      sendFirst(&state)
      schedule(&state)
      return number
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in
        state.streams[kind].remove(number)
        self?.schedule(&state)
      }
    }
  }

  /// Ends all streams and the ticking.
  func end() {
    let continuations = state.withLock { state in forget(&state) }
    for continuation in continuations { continuation.finish() }
  }

  /// Forgets the run. The caller has to finish the returned streams after it has released the lock.
  private func forget(_ state: inout State) -> [AsyncStream<TimerState>.Continuation] {
    state.run = nil
    schedule(&state)
    return state.streams.removeAll()
  }

  // MARK: The timer

  func run() throws -> RestoreTimerData {
    try runs.run(id)
  }

  func restore() throws -> RestoreTimerData {
    try state.withLock { state in
      let now = clock.now()
      let run = try runs.run(id)
      if let zero = run.zeroInstant, zero <= Instant(now) { state.reportedZero = zero }
      publish(run, at: now, &state)
      return run
    }
  }

  func change(
    _ change: (TimerRuns, String?, Date) throws -> RestoreTimerData
  ) throws -> RestoreTimerData {
    try state.withLock { state in
      let now = clock.now()
      let run = try change(runs, id, now)
      publish(run, at: now, &state)
      return run
    }
  }

  func finish(isResetTime: Bool) throws -> RestoreTimerData {
    let (run, continuations) = try state.withLock { state in
      let now = clock.now()
      let run = try runs.finish(id, at: now)
      var last = run.elapsedTimeAndStatus(now: now)
      if isResetTime { last.elapsedTime = 0 }
      reportZero(&state, at: Instant(now))
      state.streams.times.yield(last)
      return (run, forget(&state))
    }
    for continuation in continuations { continuation.finish() }
    return run
  }

  private func publish(_ run: RestoreTimerData, at now: Date, _ state: inout State) {
    // A crossing since the last tick is sent before anything after it.
    reportZero(&state, at: Instant(now))
    state.run = run
    state.streams.times.yield(run.elapsedTimeAndStatus(now: now))
    reportZero(&state, at: Instant(now))
    schedule(&state)
  }

  private func reportZero(_ state: inout State, at now: Instant) {
    guard let run = state.run, let zero = run.zeroInstant, zero <= now, zero != state.reportedZero,
      state.streams.ends.hasListeners
    else { return }
    state.reportedZero = zero
    state.streams.ends.yield(run.elapsedTimeAndStatus(now: zero.date))
  }

  // MARK: Ticking

  /// Keeps a task ticking if, and only if, there is something to send and a listener.
  private func schedule(_ state: inout State) {
    state.ticker?.task.cancel()
    state.ticker = nil
    guard state.run?.status == .running, state.streams.haveListeners else { return }
    state.tickersEver += 1
    let number = state.tickersEver
    let task = Task { [weak self] in
      while let wait = self?.untilNextTick(number) {
        do { try await Task.sleep(for: wait, tolerance: .zero) } catch { return }
        self?.tick(number)
      }
    }
    state.ticker = Ticker(number: number, task: task)
  }

  /// nil: this task has nothing to do any more.
  private func untilNextTick(_ number: Int) -> Duration? {
    state.withLock { state in
      guard state.ticker?.number == number, let run = state.run else { return nil }
      let now = Instant(clock.now())
      let tick = state.streams.times.hasListeners ? run.nextMultiple(of: interval, after: now) : nil
      let isZeroReported = run.zeroInstant == state.reportedZero || !state.streams.ends.hasListeners
      let zero = isZeroReported ? nil : run.zeroInstant
      guard let due = [tick, zero].compactMap(\.self).min() else { return nil }
      state.ticker?.due = due
      state.ticker?.isTickDue = due == tick
      // A zero may have passed before this task was scheduled.
      let wait = due == tick ? due - now : min(max(due - now, .zero), Self.zeroWaitMax)
      return .microseconds(wait.microseconds)
    }
  }

  private func tick(_ number: Int) {
    let continuations = state.withLock { state -> [AsyncStream<TimerState>.Continuation] in
      guard let ticker = state.ticker, ticker.number == number, let due = ticker.due else {
        return []
      }
      let now = clock.now()
      let early = due - Instant(now)
      if early > .zero, early < Self.earlyMax || !ticker.isTickDue { return [] }
      reportZero(&state, at: Instant(now))
      do { state.run = try runs.run(id) } catch PersistableTimerClientError.timerHasNotStarted {
        // Another owner of the data source finished the timer.
        return forget(&state)
      } catch {
        // A value that can't be read now may be readable at the next tick; time passes all the same.
      }
      reportZero(&state, at: Instant(now))
      if ticker.isTickDue, let run = state.run {
        state.streams.times.yield(run.elapsedTimeAndStatus(now: now))
      }
      return []
    }
    for continuation in continuations { continuation.finish() }
  }
}
