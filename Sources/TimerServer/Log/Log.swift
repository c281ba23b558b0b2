import Dispatch
import Foundation
import Synchronization

/// How loud a line of the log is.
public enum LogLevel: Int, CaseIterable, Comparable, Sendable {
  case error, warning, info, debug

  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The level's name, as an option spells it.
  public var name: String { "\(self)" }

  /// nil when no level has this name.
  public init?(name: String) {
    guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = level
  }
}

/// One line for the log.
struct LogLine: Equatable {
  let level: LogLevel
  let text: String
  /// Whether it tells what a peer has done, who may do it a thousand times a second.
  var isAboutPeers = false
}

/// The log on standard error: one line an entry, whatever the entry holds.
///
/// Nobody waits for whoever reads it: see `LineWriter`. What peers cause again and again is one line a minute: see
/// `LogFolding`.
public struct Log: Sendable {
  public let level: LogLevel
  private let sink: LogSink

  public init(level: LogLevel) {
    self.init(level: level, writer: .standardError)
  }

  init(level: LogLevel, writer: LineWriter) {
    self.level = level
    sink = LogSink(writer)
  }

  /// Writes a line when it is loud enough; what could break a line or turn its direction is escaped. Any thread;
  /// returns at once.
  public func write(_ level: LogLevel, _ text: String) {
    write(LogLine(level: level, text: text))
  }

  func write(_ line: LogLine) {
    guard line.level <= level else { return }
    sink.write(line)
  }

  /// Tells of what was kept back, and takes every line from here on for a new one.
  func forgetRepeats() { sink.flushRepeats() }

  /// The end of the process: returns once everything is written, or after so many seconds.
  func finish(within seconds: Double) {
    sink.flushRepeats()
    sink.writer.flush(within: seconds)
  }

  /// A line as it is written now.
  static func line(_ level: LogLevel, _ text: String) -> String {
    "\(Date().formatted(.iso8601)) \(level.name) \(escaped(text))"
  }

  /// The text with all that could break a line, turn its direction or hide in it spelled out.
  public static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        escaped += "\\u{\(String(scalar.value, radix: 16))}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

/// Where the lines of a log come together.
private final class LogSink: Sendable {
  let writer: LineWriter
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "timersync.log")

  private struct State {
    var folding = LogFolding()
    var isFlushScheduled = false
  }

  init(_ writer: LineWriter) {
    self.writer = writer
  }

  func write(_ line: LogLine) {
    state.withLock { state in
      let now = DispatchTime.now().uptimeNanoseconds
      // What is over comes before what follows on it.
      writeLines(state.folding.flushDue(at: now))
      if state.folding.admit(line, at: now) { writeLines([line]) }
      scheduleFlush(&state)
    }
  }

  func flushRepeats() {
    state.withLock { writeLines($0.folding.flushAll()) }
  }

  private func writeLines(_ lines: [LogLine]) {
    for line in lines { writer.write(Log.line(line.level, line.text)) }
  }

  /// When the next minute is over it is told, whether somebody says something more or not.
  private func scheduleFlush(_ state: inout State) {
    guard !state.isFlushScheduled, let end = state.folding.nextEnd else { return }
    state.isFlushScheduled = true
    queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: end)) { [weak self] in
      self?.state.withLock { state in
        state.isFlushScheduled = false
        self?.writeLines(state.folding.flushDue(at: DispatchTime.now().uptimeNanoseconds))
        self?.scheduleFlush(&state)
      }
    }
  }
}
