import TimerProtocol

/// The server's figures in Prometheus' text format.
struct MetricsText {
  private(set) var text = ""

  init(_ counters: Counters, connections: Int, timers: Int, running: Int) {
    gauge("timersync_connections", "WebSocket connections that are open.", connections)
    gauge("timersync_timers", "Timers that exist.", timers)
    gauge("timersync_timers_running", "Timers that run.", running)
    counter(
      "timersync_connections_opened_total", "WebSocket connections ever opened.",
      counters.connectionsOpened)
    counter(
      "timersync_messages_received_total", "Requests received, by WebSocket or HTTP.",
      counters.messagesReceived)
    counter("timersync_changes_total", "Changes of timers made durable.", counters.changesMade)
    counter("timersync_broadcasts_total", "Messages built for subscribers.", counters.broadcasts)
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
