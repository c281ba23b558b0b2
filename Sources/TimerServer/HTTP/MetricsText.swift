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
    gauge(
      "timersync_websocket_connections", "WebSocket connections that are open.", connections)
    gauge(
      "timersync_tls_websocket_connections", "WebSocket connections over TLS that are open.",
      transport.tlsWebSocketCount)
    gauge(
      "timersync_http_connections", "HTTP connections that are open.",
      transport.httpConnectionCount)
    gauge("timersync_timers", "Timers that exist.", timers)
    gauge("timersync_timers_running", "Timers that are running.", running)
    gauge(
      "timersync_event_loops", "Event loops that share the connections.", transport.loopCount)
    counter(
      "timersync_tcp_connections_accepted_total", "TCP connections accepted.",
      transport.acceptedCount)
    counter(
      "timersync_transport_rejected_total",
      "Connections, requests and messages that the transport rejected, by reason.", by: "reason",
      TransportRefusal.allCases.map { ($0.rawValue, transport.refusals[$0] ?? 0) })
    counter(
      "timersync_websocket_connections_opened_total", "WebSocket connections opened.",
      counters.connectionsOpened)
    counter(
      "timersync_websocket_connections_closed_total",
      "WebSocket connections that the server closed, by reason.", by: "reason",
      CloseReason.allCases.map { ($0.rawValue, counters.closedConnections[$0] ?? 0) })
    counter(
      "timersync_websocket_reading_paused_total",
      "Times that the server paused reading from a WebSocket connection.", counters.readingPauses)
    counter(
      "timersync_requests_received_total", "Requests received, by WebSocket or HTTP.",
      counters.messagesReceived)
    counter(
      "timersync_requests_refused_total", "Requests refused, by error code.", by: "code",
      ErrorCode.allCases.map { ($0.rawValue, counters.refusals[$0] ?? 0) })
    counter(
      "timersync_unknown_tokens_total", "Unknown or expired tokens presented.",
      counters.wrongTokens)
    counter(
      "timersync_timer_changes_total", "Changes of timers stored on disk.", counters.changesMade)
    counter("timersync_broadcasts_total", "Messages sent to subscribers.", counters.broadcasts)
    head(
      "timersync_wall_clock_offset_seconds", "The wall clock minus the server clock.", "gauge")
    text += "timersync_wall_clock_offset_seconds \(wallOffset.text)\n"
    counter(
      "timersync_wall_clock_steps_total", "Times that the wall clock was set or had drifted.",
      counters.clockSteps)
  }

  private mutating func gauge(_ name: String, _ help: String, _ value: Int) {
    head(name, help, "gauge")
    text += "\(name) \(value)\n"
  }

  private mutating func counter(_ name: String, _ help: String, _ value: Int) {
    head(name, help, "counter")
    text += "\(name) \(value)\n"
  }

  /// One counter for each value of a label.
  private mutating func counter(
    _ name: String, _ help: String, by label: String, _ values: [(label: String, count: Int)]
  ) {
    head(name, help, "counter")
    for value in values { text += "\(name){\(label)=\"\(value.label)\"} \(value.count)\n" }
  }

  private mutating func head(_ name: String, _ help: String, _ type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }
}
