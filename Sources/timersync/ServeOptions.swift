import Foundation
import TimerServer

/// The options of `timersync serve`.
struct ServeOptions {
  /// The settings of the server.
  private(set) var settings = ServerSettings(dataFolder: "")
  /// Those that were given, each once.
  private var addresses: [String] = []

  private static let names = [
    "--listen", "--port", "--host", "--origin", "--anonymous", "--tokens", "--frame-ancestors",
    "--data", "--web", "--log-level", "--title-bytes", "--warnings",
  ]
  private static let flags = ["--allow-get"]

  /// Options that take a count.
  private static var counts: [String: WritableKeyPath<ServerSettings, Int>] {
    [
      "--connections": \.connectionsMax, "--timers": \.timersMax,
      "--subscriptions": \.subscriptionsMax, "--requests": \.requestsPerSecond,
      "--replies": \.repliesMax, "--http-requests": \.httpRequestsPerSecond,
      "--pending": \.pendingMax,
    ]
  }

  init(_ words: [String]) throws(UsageError) {
    settings.page = .files(EmbeddedPage.files)
    let counts = Self.counts
    var network = NetworkOptions()
    let known = Self.names + NetworkOptions.names + counts.keys.sorted()
    for (name, value) in try OptionList(words, known: known, flags: Self.flags).options {
      if let count = counts[name] {
        settings[keyPath: count] = try Self.count(name, value)
      } else if try !network.apply(name, value) {
        try apply(name, value)
      }
    }
    if settings.dataFolder.isEmpty { settings.dataFolder = try Self.standardDataFolder() }
    try network.check()
    settings.network = network.settings
    if !addresses.isEmpty { settings.addresses = addresses }
  }

  private mutating func apply(_ name: String, _ value: String) throws(UsageError) {
    switch name {
    case "--listen": if !addresses.contains(value) { addresses.append(value) }
    case "--port": settings.port = try Self.port(value)
    case "--host":
      guard settings.access.addHost(value) else {
        throw UsageError(
          "--host has to be a name alone, as in timer.example, without scheme and port, not '\(value)'"
        )
      }
    case "--origin":
      guard settings.access.addOrigin(value) else {
        throw UsageError(
          "--origin has to be a scheme, a host and no path, as in https://show.example, or null or file://, "
            + "not '\(value)'"
        )
      }
    case "--anonymous": settings.anonymousRole = try Self.role(value)
    case "--tokens": settings.tokensPath = try Self.path(name, value)
    case "--allow-get": settings.allowsGet = true
    case "--frame-ancestors": settings.frameAncestors += try Self.frameAncestors(value)
    case "--data": settings.dataFolder = try Self.path(name, value)
    case "--web": settings.page = .folder(try Self.path(name, value))
    case "--log-level": settings.logLevel = try Self.logLevel(value)
    case "--title-bytes":
      settings.titleBytesMax = try Self.count(name, value, in: 0...ServerSettings.titleBytesLimit)
    case "--warnings":
      settings.warningsMax = try Self.count(name, value, in: 0...ServerSettings.warningsLimit)
    default: preconditionFailure("a known option is taken, \(name) too")
    }
  }

  /// Refuses to listen where others can connect without any configured permissions or tokens.
  func checkReach() throws {
    guard !settings.isForThisMachineOnly, settings.anonymousRole == nil else { return }
    let store = TokenStore(path: settings.tokensPath, dataFolder: settings.dataFolder)
    guard try store.list().isEmpty else { return }
    let place = settings.reachableAddress ?? "a server behind a proxy"
    throw UsageError(
      "\(place) can be reached by others without a token: make one with "
        + "'timersync token add', use '--anonymous view' or '--anonymous control' to allow that, or "
        + "listen on 127.0.0.1")
  }
}

// MARK: - Values

extension ServeOptions {
  /// Where programs of one user keep what they must not lose: by the XDG base directory specification, which has a path
  /// that is empty or relative ignored.
  static func standardDataFolder(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(UsageError) -> String {
    func folder(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    guard let share = folder("XDG_DATA_HOME") ?? folder("HOME").map({ $0 + "/.local/share" })
    else {
      throw UsageError(
        "no data folder: give one with '--data FOLDER', since HOME is not set")
    }
    return share + "/timersync"
  }

  /// A path that was given; an empty one is what a script makes of a variable that is not set.
  static func path(_ name: String, _ value: String) throws(UsageError) -> String {
    guard !value.isEmpty else { throw UsageError("\(name) needs a path, and got an empty one") }
    return value
  }

  private static func port(_ value: String) throws(UsageError) -> Int {
    guard let port = Int(value), (0...65_535).contains(port) else {
      throw UsageError("--port has to be 0 to 65535, not '\(value)'; 0 picks a free one")
    }
    return port
  }

  private static func count(
    _ name: String, _ value: String, in range: ClosedRange<Int> = 1...1_000_000
  ) throws(UsageError) -> Int {
    guard let count = Int(value), range.contains(count) else {
      throw UsageError(
        "\(name) has to be \(range.lowerBound) to \(range.upperBound), not '\(value)'")
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
      let names = Role.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--anonymous has to be one of \(names), not '\(value)'")
    }
    return role
  }

  private static func frameAncestors(_ value: String) throws(UsageError) -> [FrameAncestor] {
    guard value != "none" else { return [] }
    guard let ancestor = FrameAncestor(value) else {
      throw UsageError(
        "--frame-ancestors has to be none, self, an origin as in https://dash.example, or *, not "
          + "'\(value)'")
    }
    return [ancestor]
  }
}
