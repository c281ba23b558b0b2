import Foundation
import TimerServer

/// `timersync token`: makes, lists and removes tokens.
struct TokenCommand {
  let options: TokenOptions

  func run() throws {
    switch options.action {
    case .add(let name, let role, let timers, let expires):
      let secret = try options.store.add(name: name, role: role, timers: timers, expires: expires)
      try printSecret(secret, of: name)
    case .list: try list(options.store.list())
    case .remove(let name): try options.store.remove(name)
    }
  }

  /// Prints the secret alone on its line, for scripts. It can't be printed again, so a token whose secret was not
  /// printed is removed.
  private func printSecret(_ secret: String, of name: String) throws(OutputFailure) {
    do { try StandardStreams.print(secret) } catch {
      do { try options.store.withdraw(secret) } catch let obstacle {
        throw error.with("the token \(name) was not printed, but is still in the list: \(obstacle)")
      }
      throw error.with("no token was made")
    }
  }

  private func list(_ entries: [TokenStore.Entry]) throws(OutputFailure) {
    var rows = [["NAME", "ROLE", "TIMERS", "ENDS"]]
    for entry in entries {
      rows.append([
        entry.name, entry.role, entry.timers?.joined(separator: ", ") ?? "all", ends(entry.expires),
      ])
    }
    let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      // Whatever stands in the file, it is one line here.
      try StandardStreams.print(Log.escaped((cells + [row[3]]).joined(separator: "  ")))
    }
  }

  private func ends(_ expires: Date?) -> String {
    guard let expires else { return "never" }
    return expires.formatted(.iso8601) + (expires <= Date() ? " (over)" : "")
  }
}
