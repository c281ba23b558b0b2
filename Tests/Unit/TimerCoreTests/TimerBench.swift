import Testing
import TimerCore

/// A timer on a bench: commands go in at an instant that the test moves.
struct TimerBench {
  let id: TimerID
  var timer: SharedTimer?
  var now: Instant

  static let start: Instant = 1_764_480_000.25

  init(_ name: String = "tea", now: Instant = Self.start) {
    guard let id = TimerID(name) else { preconditionFailure("a bench needs a timer's name") }
    self.id = id
    self.now = now
  }

  mutating func advance(_ length: Seconds) {
    now = now + length
  }

  mutating func apply(
    _ command: TimerCommand, ifRevision: Int? = nil, at press: Instant? = nil
  ) throws(TimerRefusal) {
    let change = TimerChange(command, ifRevision: ifRevision, at: press)
    timer = try SharedTimer.applying(change, to: timer, id: id, now: now)
  }

  /// Makes the crossing of zero that is due, and returns its instant.
  @discardableResult
  mutating func crossZero() -> Instant? {
    guard let crossing = timer?.crossingZero(at: now) else { return nil }
    timer = crossing.timer
    return crossing.at
  }

  /// The times that the timer shows at its ticks within `length` from now.
  func ticks(every interval: Seconds, for length: Seconds) -> [Seconds] {
    guard let timer else { return [] }
    var shown: [Seconds] = []
    var instant = now
    while let tick = timer.nextTick(after: instant, every: interval), tick <= now + length {
      shown.append(TimerReading(timer, at: tick).time)
      instant = tick
    }
    return shown
  }

  var reading: TimerReading? { timer.map { TimerReading($0, at: now) } }
  var time: Seconds? { reading?.time }
  var elapsed: Seconds? { reading?.elapsed }
  var status: TimerStatus? { reading?.status }
}

extension TimerBench {
  /// The state of the timer before the test begins.
  enum Past: String, CaseIterable, CustomTestStringConvertible {
    case unknown, idle, running, paused, overtime, finished

    var testDescription: String { rawValue }
    var isActive: Bool { [.running, .paused, .overtime].contains(self) }
    static let active = allCases.filter(\.isActive)
    static let inactive = allCases.filter { !$0.isActive }
  }

  /// A bench whose timer has been used, by default a countdown from 300 s that runs since 10 s.
  static func make(
    _ past: Past = .running, _ type: RestoreType = .countdown(300), atZero: AtZero = .overtime,
    title: String = "", warnings: [Seconds] = []
  ) -> TimerBench {
    var bench = TimerBench()
    let settings = TimerSettings(type: type, atZero: atZero, title: title, warnings: warnings)
    let idle = SharedTimer(
      id: bench.id, revision: 7, settings: settings, changedAt: TimerBench.start)
    guard past != .unknown else { return bench }
    bench.timer = idle
    guard past != .idle else { return bench }
    do {
      try bench.apply(.start(TimerStart()))
      bench.advance(10)
      switch past {
      case .paused: try bench.apply(.pause)
      case .finished: try bench.apply(.finish(resetTime: false))
      case .overtime:
        bench.advance((type.duration ?? 0) - 5)
        bench.crossZero()
      case .running, .unknown, .idle: break
      }
    } catch {
      preconditionFailure("a timer can be brought to be \(past): \(error)")
    }
    return bench
  }

  static func make(_ past: Past = .running, seconds: Seconds, atZero: AtZero = .overtime) -> Self {
    make(past, .countdown(seconds), atZero: atZero)
  }

  static func stopwatch(_ past: Past = .running) -> TimerBench {
    make(past, .stopwatch)
  }
}
