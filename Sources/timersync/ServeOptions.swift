import Foundation
import TimerServer

/// The options of `timersync serve`.
struct ServeOptions {
  var address = "127.0.0.1"
  var port = 8080
  var dataFolder = ServeOptions.standardDataFolder
  var webFolder: String?
  var logLevel = LogLevel.info
  var anonymousRole: Role?
  var hosts: Set<String> = []
  var origins: Set<String> = []
  var connectionsMax = 16_384
  var timersMax = 10_000
  var subscriptionsMax = 1_000

  static let names = [
    "--listen", "--port", "--data", "--web", "--log-level", "--anonymous", "--host", "--origin",
    "--connections", "--timers", "--subscriptions",
  ]

  init(_ words: [String]) throws(UsageError) {
    for (name, value) in try OptionList(words, known: Self.names).options {
      switch name {
      case "--listen": address = value
      case "--port": port = try Self.port(value)
      case "--data": dataFolder = value
      case "--web": webFolder = value
      case "--log-level": logLevel = try Self.logLevel(value)
      case "--anonymous": anonymousRole = try Self.role(value)
      case "--host": hosts.insert(value.lowercased())
      case "--origin": origins.insert(value.lowercased())
      case "--connections": connectionsMax = try Self.count(name, value)
      case "--timers": timersMax = try Self.count(name, value)
      default: subscriptionsMax = try Self.count(name, value)
      }
    }
    guard isLoopback || anonymousRole != nil else {
      throw UsageError(
        "\(address) can be reached by others, and nobody is asked who he is: say '--anonymous view' or "
          + "'--anonymous control' if that is meant, or listen on 127.0.0.1")
    }
  }

  /// The settings of the server.
  var settings: ServerSettings {
    var settings = ServerSettings(dataFolder: dataFolder)
    settings.address = address
    settings.port = port
    settings.logLevel = logLevel
    settings.anonymousRole = anonymousRole ?? .control
    settings.connectionsMax = connectionsMax
    settings.timersMax = timersMax
    settings.subscriptionsMax = subscriptionsMax
    settings.access.hosts = hosts
    settings.access.origins = origins
    settings.page = webFolder.map { .folder($0) } ?? .files(EmbeddedPage.files)
    return settings
  }

  private var isLoopback: Bool {
    address == "localhost" || address == "::1" || address.hasPrefix("127.")
  }

  // MARK: Values

  /// Where programs of one user keep what they must not lose.
  private static var standardDataFolder: String {
    let environment = ProcessInfo.processInfo.environment
    let share = environment["XDG_DATA_HOME"] ?? (environment["HOME"] ?? ".") + "/.local/share"
    return share + "/timersync"
  }

  private static func port(_ value: String) throws(UsageError) -> Int {
    guard let port = Int(value), (0...65_535).contains(port) else {
      throw UsageError("--port has to be 0 to 65535, not '\(value)'; 0 picks a free one")
    }
    return port
  }

  private static func count(_ name: String, _ value: String) throws(UsageError) -> Int {
    guard let count = Int(value), (1...1_000_000).contains(count) else {
      throw UsageError("\(name) has to be 1 to 1000000, not '\(value)'")
    }
    return count
  }

  private static func logLevel(_ value: String) throws(UsageError) -> LogLevel {
    guard let level = LogLevel(name: value) else {
      let names = LogLevel.allCases.map(\.name).joined(separator: ", ")
      throw UsageError("--log-level has to be one of \(names), not '\(value)'")
    }
    return level
  }

  private static func role(_ value: String) throws(UsageError) -> Role {
    guard let role = Role(rawValue: value) else {
      let names = Role.allCases.map(\.rawValue).joined(separator: " or ")
      throw UsageError("--anonymous has to be \(names), not '\(value)'")
    }
    return role
  }
}
