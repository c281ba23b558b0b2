import Foundation
import TimerServer

/// The parsed arguments of `timersync token`.
struct TokenOptions {
  let store: TokenStore
  let action: Action

  enum Action {
    case add(name: String, role: Role, timers: [String]?, expires: Date?)
    case list
    case remove(String)
  }

  init(_ words: [String], now: Date = Date()) throws(UsageError) {
    guard let verb = words.first else {
      throw UsageError("'timersync token' needs one of: add, list, remove")
    }
    var rest = Array(words.dropFirst())
    var removed: String?
    if verb == "remove", let name = rest.first, !name.hasPrefix("--") {
      removed = name
      rest.removeFirst()
    }
    let known = verb == "add" ? Self.addNames + Self.fileNames : Self.fileNames
    let list = try OptionList(rest, known: known)
    store = try Self.store(list)
    switch verb {
    case "add": action = try Self.add(list, now)
    case "list": action = .list
    case "remove":
      guard let removed else {
        throw UsageError("'timersync token remove' needs a token's name, as in 'remove stage'")
      }
      action = .remove(removed)
    default: throw UsageError("'timersync token' has no '\(verb)'; there are: add, list, remove")
    }
  }

  private static func store(_ list: OptionList) throws(UsageError) -> TokenStore {
    for name in fileNames {
      if let value = list.last(name) { _ = try ServeOptions.path(name, value) }
    }
    if let path = list.last("--tokens") { return TokenStore(path: path, dataFolder: "") }
    if let folder = list.last("--data") { return TokenStore(path: nil, dataFolder: folder) }
    return TokenStore(path: nil, dataFolder: try ServeOptions.standardDataFolder())
  }

  private static let fileNames = ["--data", "--tokens"]
  private static let addNames = ["--name", "--role", "--timer", "--expires", "--expires-in"]

  private static func add(_ list: OptionList, _ now: Date) throws(UsageError) -> Action {
    guard let name = list.last("--name") else {
      throw UsageError("a token needs a name for the log and to remove it by: '--name NAME'")
    }
    guard let role = list.last("--role").flatMap(Role.init(rawValue:)), role > .none else {
      throw UsageError("a token needs a role: '--role view' or '--role control'")
    }
    let timers = list.all("--timer")
    return .add(
      name: name, role: role, timers: timers.isEmpty ? nil : timers,
      expires: try end(at: list.last("--expires"), after: list.last("--expires-in"), now))
  }

  // MARK: Ends

  private static func end(
    at instant: String?, after length: String?, _ now: Date
  ) throws(UsageError) -> Date? {
    guard instant == nil || length == nil else {
      throw UsageError("give either --expires or --expires-in, not both")
    }
    if let instant {
      guard let date = try? Date(instant, strategy: .iso8601), date > now else {
        throw UsageError(
          "--expires has to be in the future, as in 2026-12-31T18:00:00Z, not '\(instant)'")
      }
      return date
    }
    guard let length else { return nil }
    guard let seconds = seconds(length) else {
      throw UsageError("--expires-in has to be like 45s, 90m, 12h or 7d, not '\(length)'")
    }
    return now.addingTimeInterval(seconds)
  }

  /// A whole number and its unit; a century at most.
  private static func seconds(_ length: String) -> Double? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    guard let unit = length.last.flatMap({ units[$0] }), let count = Int(length.dropLast()),
      count > 0, count <= 3_155_760_000 / unit
    else { return nil }
    return Double(count * unit)
  }
}
