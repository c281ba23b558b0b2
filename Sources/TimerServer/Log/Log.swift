import Dispatch
import Foundation
import Synchronization

/// The severity of a log line.
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
  /// True if a peer caused it, and could do so a thousand times a second.
  var isAboutPeers = false
}

/// The log on standard error, one line for each entry.
///
/// No thread waits for a slow reader: see `LineWriter`. Lines that peers cause are limited to one a minute: see
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

  /// Writes a line if its level is enabled. Characters that could break the line or reverse its direction are escaped.
  /// Any thread; returns at once.
  public func write(_ level: LogLevel, _ text: String) {
    write(LogLine(level: level, text: text))
  }

  func write(_ line: LogLine) {
    guard line.level <= level else { return }
    sink.write(line)
  }

  /// Writes the pending summaries, and treats every later line as new.
  func forgetRepeats() { sink.flushRepeats() }

  /// The end of the process: returns once everything is written, or after `seconds`.
  func finish(within seconds: Double) {
    sink.flushRepeats()
    sink.writer.flush(within: seconds)
  }

  /// The line with the current time and its level, as it is written.
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
      // Summaries of earlier lines are written first.
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

  /// Schedules the next summary, so that it is written without a further line.
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
