import Foundation

/// What the command line asks for.
enum Arguments {
  case help(String)
  case version
  case serve(ServeOptions)

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
    case let word?:
      throw UsageError("there is no command '\(word)'; 'timersync serve' starts the server")
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

/// Options with their values, in the order given: `--name value` or `--name=value`.
struct OptionList {
  let options: [(name: String, value: String)]

  /// Every option known takes a value.
  init(_ words: [String], known: [String]) throws(UsageError) {
    var options: [(name: String, value: String)] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard known.contains(name) else {
        throw UsageError("there is no option '\(name)'; there are: \(known.joined(separator: " "))")
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw UsageError("\(name) needs a value, as in '\(name) VALUE'")
      }
      options.append((name, value))
    }
    self.options = options
  }
}
