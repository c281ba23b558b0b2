import Foundation

/// The parsed command line.
enum Arguments {
  case help(String)
  case version
  case serve(ServeOptions)
  case token(TokenOptions)

  init(_ words: [String]) throws(UsageError) {
    switch words.first {
    case nil: throw UsageError("a command is missing; 'timersync serve' starts the server")
    case "--help", "-h", "help": self = .help(HelpText.program)
    case "--version": self = .version
    case "serve":
      let rest = Array(words.dropFirst())
      if rest.contains("--help") || rest.contains("-h") {
        self = .help(HelpText.serve)
      } else {
        self = .serve(try ServeOptions(rest))
      }
    case "token":
      let rest = Array(words.dropFirst())
      if rest.contains("--help") || rest.contains("-h") {
        self = .help(HelpText.token)
      } else {
        self = .token(try TokenOptions(rest))
      }
    case let word?:
      throw UsageError(
        "there is no command '\(word)'; 'timersync serve' starts the server, 'timersync token' is for tokens"
      )
    }
  }
}

/// A command line that can't be followed, and what would be right.
struct UsageError: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}

/// Options with their values, in the order given: `--name value` or `--name=value`; a flag has none.
struct OptionList {
  let options: [(name: String, value: String)]

  /// Every option known takes a value, every flag none.
  init(_ words: [String], known: [String], flags: [String] = []) throws(UsageError) {
    var options: [(name: String, value: String)] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      if flags.contains(name) {
        guard parts.count == 1 else { throw UsageError("\(name) takes no value") }
        options.append((name, ""))
        continue
      }
      guard known.contains(name) else {
        let names = (known + flags).joined(separator: " ")
        throw UsageError("there is no option '\(name)'; there are: \(names)")
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw UsageError("\(name) needs a value, as in '\(name) VALUE'")
      }
      options.append((name, value))
    }
    self.options = options
  }

  /// The value that was given last.
  func last(_ name: String) -> String? {
    options.last { $0.name == name }?.value
  }

  /// Every value that was given.
  func all(_ name: String) -> [String] {
    options.filter { $0.name == name }.map(\.value)
  }
}
