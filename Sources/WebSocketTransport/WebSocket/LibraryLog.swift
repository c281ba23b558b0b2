import CLibwebsockets
import Synchronization

/// Where libwebsockets' own log lines go. It has one log for the whole process: the last loop made has it.
enum LibraryLog {
  private static let sink = Mutex<(@Sendable (TransportLogLevel, String) -> Void)?>(nil)

  static func send(to log: @escaping @Sendable (TransportLogLevel, String) -> Void) {
    sink.withLock { $0 = log }
    // The line is lent for the call, which comes on the thread that uses the library.
    unsafe lws_set_log_level(shim_log_levels) { level, line in
      guard let line = unsafe line else { return }
      LibraryLog.write(unsafe String(cString: line), isError: level == shim_log_error)
    }
  }

  private static func write(_ line: String, isError: Bool) {
    // Written at each handed over socket, as if it were an error.
    if line.hasPrefix("adopt_socket_readbuf: calling service") { return }
    let log = sink.withLock { $0 }
    let text = line.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    // libwebsockets' warnings are about peers, and peers must not be able to fill our log.
    log?(isError ? .error : .info, "libwebsockets: \(text)")
  }
}
