import Foundation

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
}

/// The log on standard error: one line an entry, whatever the entry holds.
public struct Log: Sendable {
  public let level: LogLevel

  public init(level: LogLevel) {
    self.level = level
  }

  /// Writes a line when it is loud enough; what could break a line or turn its direction is escaped.
  public func write(_ level: LogLevel, _ text: String) {
    guard level <= self.level else { return }
    let line = "\(Date().formatted(.iso8601)) \(level.name) \(Self.escaped(text))\n"
    // Where the log goes may be full, or gone. Nobody is left to be told then, and the timers go on without it.
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
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
