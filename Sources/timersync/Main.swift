import Foundation
import TimerServer

/// The program: what the arguments ask for, and an exit code.
@main
enum Main {
  static func main() {
    do {
      switch try Arguments(Array(CommandLine.arguments.dropFirst())) {
      case .help(let text): print(text)
      case .version: print("timersync \(Version.text)")
      case .serve(let options): try serve(options)
      }
    } catch let error as UsageError {
      fail("\(error.message)\nTry 'timersync --help'.", code: ExitCode.usage)
    } catch {
      fail("\(error)", code: ExitCode.unavailable)
    }
  }

  private static func serve(_ options: ServeOptions) throws {
    let server = try Server(options.settings)
    let host = options.address.contains(":") ? "[\(options.address)]" : options.address
    say("timersync listening on http://\(host):\(server.port)")
    server.run()
  }

  /// Written at once, for whoever waits for the line.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  private static func fail(_ message: String, code: Int32) -> Never {
    FileHandle.standardError.write(Data("timersync: \(message)\n".utf8))
    exit(code)
  }
}

/// As in `man 3 sysexits`.
enum ExitCode {
  static let usage: Int32 = 64
  static let unavailable: Int32 = 69
}
