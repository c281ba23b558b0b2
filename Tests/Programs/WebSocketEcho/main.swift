// A small server on the transport's public face, for the tests of the transport itself.

import Glibc
import WebSocketTransport

func serve(
  _ options: TransportOptions, _ signals: ProcessSignals
) throws(TransportError) -> Echo {
  let loop = try LoopGroup(options)
  loop.handleSignals(signals, stopWithin: options.drainSeconds + 5) {
    _exit($0 == .secondSignal ? 0 : 1)
  }
  let mailbox = Mailbox<String>()
  loop.listen(to: mailbox)
  print("listening on \(options.address):\(loop.port)")
  fflush(nil)
  var echo = Echo(mailbox: mailbox)
  loop.run { event, actions in echo.handle(event, counters: loop.transportCounters, &actions) }
  return echo
}

do {
  let signals = try ProcessSignals()
  let arguments = EchoArguments(CommandLine.arguments)
  for _ in 0..<arguments.rehearsalCount {
    let loop = try LoopGroup(arguments.options)
    loop.stop()
    loop.run { event, actions in
      if case .stopRequested = event { actions.append(.stop) }
    }
    _ = try LoopGroup(arguments.options)
  }
  let echo = try serve(arguments.options, signals)
  // After the loop is gone a post is nothing but queued.
  echo.mailbox.post("into the void")
  print("stopped opened=\(echo.openedCount) closed=\(echo.closedCount)")
} catch {
  print("error: \(error)")
  exit(1)
}
