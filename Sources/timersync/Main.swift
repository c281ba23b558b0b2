import Foundation
import TimerServer

/// The program's entry point and exit codes.
@main
enum Main {
  static func main() {
    StandardStreams.open()
    do {
      switch try Arguments(ProcessArguments.words) {
      case .help(let text): try StandardStreams.print(text)
      case .version: try StandardStreams.print("timersync \(Version.text)")
      case .serve(let options): try serve(options)
      case .token(let options): try TokenCommand(options: options).run()
      }
    } catch let error as UsageError {
      fail("\(error.message)\nTry 'timersync --help'.", code: ExitCode.usage)
    } catch ServerFailure.newerData(let path, let why) {
      fail("\(ServerFailure.newerData(path, why))", code: ExitCode.dataError)
    } catch let error as TokenFailure {
      fail("\(error)", code: Int32(error))
    } catch let error as OutputFailure {
      fail("\(error)", code: ExitCode.outputLost)
    } catch {
      fail("\(error)", code: ExitCode.unavailable)
    }
  }

  private static func serve(_ options: ServeOptions) throws {
    // First of all, so that no thread is there yet that a signal could end.
    let signals = try ServerSignals { _exit(Int32($0)) }
    try options.checkReach()
    let settings = options.settings
    let server = try Server(settings, handling: signals)
    for address in settings.addresses {
      let host = address.contains(":") ? "[\(address)]" : address
      StandardStreams.writeLine(
        "timersync listening on \(settings.network.scheme)://\(host):\(server.port)")
    }
    let end = server.run()
    // Threads are not joined: one may hang on the disk, or on a log that is not read.
    _exit(Int32(end))
  }

  private static func fail(_ message: String, code: Int32) -> Never {
    StandardStreams.writeError("timersync: \(message)")
    exit(code)
  }
}

/// As in `man 3 sysexits`.
enum ExitCode {
  static let usage: Int32 = 64
  /// The input does not fit the existing data, such as a name that is taken, or data of a newer version.
  static let dataError: Int32 = 65
  static let unavailable: Int32 = 69
  /// The disk did not answer when the server stopped.
  static let diskUnresponsive: Int32 = 74
  /// The output could not be written to standard output.
  static let outputLost: Int32 = 74
}

extension Int32 {
  /// The exit code of a server.
  fileprivate init(_ end: ServerEnd) {
    switch end {
    case .stored: self = 0
    case .diskUnresponsive: self = ExitCode.diskUnresponsive
    }
  }

  /// The exit code of a token command's failure.
  fileprivate init(_ failure: TokenFailure) {
    switch failure {
    case .invalid, .taken, .unknown: self = ExitCode.dataError
    case .file: self = ExitCode.unavailable
    }
  }
}
