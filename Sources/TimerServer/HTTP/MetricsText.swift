import TimerCore
import TimerProtocol
import WebSocketTransport

/// The server's figures in Prometheus' text format.
struct MetricsText {
  private(set) var text = ""

  init(
    _ counters: Counters, _ transport: TransportCounters, connections: Int, timers: Int,
    running: Int, wallOffset: Seconds
  ) {
    gauge("timersync_connections", "WebSocket connections that are open.", connections)
    gauge("timersync_timers", "Timers that exist.", timers)
    gauge("timersync_timers_running", "Timers that run.", running)
    gauge(
      "timersync_http_connections", "HTTP connections that are open.",
      transport.httpConnectionCount)
    gauge(
      "timersync_tls_connections", "WebSocket connections by TLS.", transport.tlsWebSocketCount)
    gauge("timersync_loops", "Loops that share the connections.", transport.loopCount)
    counter("timersync_accepted_total", "TCP connections ever accepted.", transport.acceptedCount)
    head("timersync_turned_away_total", "Turned away by the transport, by reason.", "counter")
    for why in TransportRefusal.allCases {
      text +=
        "timersync_turned_away_total{reason=\"\(why.rawValue)\"} \(transport.refusals[why] ?? 0)\n"
    }
    counter(
      "timersync_connections_opened_total", "WebSocket connections ever opened.",
      counters.connectionsOpened)
    counter(
      "timersync_messages_received_total", "Requests received, by WebSocket or HTTP.",
      counters.messagesReceived)
    counter("timersync_changes_total", "Changes of timers made durable.", counters.changesMade)
    counter(
      "timersync_held_back_total", "Times that a connection was not read for a while.",
      counters.readingPauses)
    head("timersync_wall_offset_seconds", "The wall clock minus the server clock.", "gauge")
    text += "timersync_wall_offset_seconds \(wallOffset.text)\n"
    counter(
      "timersync_clock_steps_total", "Times that the wall clock was set, or had drifted.",
      counters.clockSteps)
    counter("timersync_broadcasts_total", "Messages built for subscribers.", counters.broadcasts)
    counter(
      "timersync_wrong_tokens_total", "Tokens presented that are not known.", counters.wrongTokens)
    head("timersync_dismissals_total", "Connections ended by the server, by reason.", "counter")
    for why in CloseReason.allCases {
      text +=
        "timersync_dismissals_total{reason=\"\(why.rawValue)\"} \(counters.closedConnections[why] ?? 0)\n"
    }
    head("timersync_refusals_total", "Requests refused, by error code.", "counter")
    for code in ErrorCode.allCases {
      text +=
        "timersync_refusals_total{code=\"\(code.rawValue)\"} \(counters.refusals[code] ?? 0)\n"
    }
  }

  private mutating func gauge(_ name: String, _ help: String, _ value: Int) {
    head(name, help, "gauge")
    text += "\(name) \(value)\n"
  }

  private mutating func counter(_ name: String, _ help: String, _ value: Int) {
    head(name, help, "counter")
    text += "\(name) \(value)\n"
  }

  private mutating func head(_ name: String, _ help: String, _ type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }
}
