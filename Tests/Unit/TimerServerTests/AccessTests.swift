import Testing
import WebSocketTransport

@testable import TimerServer

@Suite struct `The rules of access` {
  private let rules: AccessRules = {
    var rules = AccessRules()
    _ = rules.addHost("timer.studio") && rules.addOrigin("https://show.example")
    return rules
  }()

  @Test(arguments: [
    ("https://Show.Example:443", "https://show.example"),
    ("http://show.example:80", "http://show.example"),
    ("http://show.example:443", "http://show.example:443"), ("http://[::1]:81", "http://[::1]:81"),
    ("app://localhost", "app://localhost"), ("null", "null"), ("file://", "file://"),
    ("tauri://localhost", "TAURI://localhost"), ("http://[0:0::1]:81", "http://[::1]:81"),
    ("https://show.example.", "https://show.example"),
  ])
  func `take an origin as browsers send it`(_ told: String, _ sent: String) {
    var rules = AccessRules()

    let isTaken = rules.addOrigin(told)

    #expect(isTaken)
    let headers = ["host": "localhost", "origin": sent]
    #expect(rules.refusal(of: Handshake(headers: headers)) == nil)
  }

  @Test(arguments: [
    "", "show.example", "https://", "://show.example", "https://show.example/", "*",
    "https://show.example/page", "https://a@show.example", "https://show.example:http",
    "https://*.example", "https://show.example,https://b.example", "https://show example",
    "file:///", "file:///home", "https://1.2.3", "https://show.example:70000",
  ])
  func `take nothing else for an origin`(_ told: String) {
    var rules = AccessRules()

    let isTaken = rules.addOrigin(told)

    #expect(!isTaken)
  }

  @Test(arguments: [
    "", "timer.example:8080", "http://timer.example", "timer.example/", "*", "a b",
    "zeitgeber.münchen",
  ])
  func `take nothing for a name that browsers send otherwise`(_ told: String) {
    var rules = AccessRules()

    let isTaken = rules.addHost(told)

    #expect(!isTaken)
  }

  @Test(arguments: ["Timer.Example", "timer.example.", "timer_1", "localhost", "192.168.1.7"])
  func `take a name in any spelling`(_ told: String) {
    var rules = AccessRules()

    let isTaken = rules.addHost(told)

    #expect(isTaken)
    for host in [told, told.uppercased(), "\(told):8080"] {
      #expect(rules.refusal(of: Handshake(headers: ["host": host])) == nil)
    }
  }

  private func isRefused(host: String?, origin: String? = nil) -> Bool {
    var headers: [String: String] = [:]
    headers["host"] = host
    headers["origin"] = origin
    let refusal = rules.refusal(of: Handshake(headers: headers))
    return refusal?.status == 403
  }

  @Test(arguments: [
    "localhost", "localhost:8080", "LocalHost:8080", "127.0.0.1", "127.0.0.1:8080",
    "192.168.1.20:80",
    "[::1]", "[::1]:8080", "[fe80::1]:8080", "timer.studio", "Timer.Studio:8080",
  ])
  func `know addresses, localhost and the server's own names`(_ host: String) {
    #expect(!isRefused(host: host))
  }

  @Test(arguments: [
    "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example",
    "timer.studio.evil.example", "evil-timer.studio", "999.0.0.1", "1.2.3", "1.2.3.4.5",
    "0x7f.0.0.1",
    "[evil]:8080", "", ":8080", "2130706433", "[::1", "[::1]]:80", "[::1]80", "localhost:8o",
    "localhost:80:80", "+1.2.3.4", "localhost:65536", "evil@localhost", "localhost/", "127.0.0.01",
    "[127.0.0.1]", "[::1%lo]", "localhost,localhost",
  ])
  func `refuse any other host`(_ host: String) {
    #expect(isRefused(host: host))
  }

  @Test(arguments: [
    ("localhost:8080", "http://localhost:8080"), ("LOCALHOST:8080", "http://localhost:8080"),
    ("[::1]:8080", "http://[::1]:8080"), ("timer.studio", "https://timer.studio"),
    ("localhost:8080", "https://show.example"), ("localhost:8080", "HTTPS://Show.Example"),
    ("timer.studio:443", "https://timer.studio"), ("timer.studio.", "http://timer.studio:80"),
    ("[0:0::1]:8080", "http://[::1]:8080"), ("localhost.:8080", "http://localhost:8080"),
  ])
  func `know pages of the own host and those on the list`(_ host: String, _ origin: String) {
    #expect(!isRefused(host: host, origin: origin))
  }

  @Test(arguments: [
    "http://evil.example", "null", "", "http://localhost.evil.example:8080", "http://show.example",
    "https://show.example.evil.example", "https://show.example:444", "file://", "localhost:8080",
    "http://evil.example/localhost:8080", "http://evil.example:8080", "x://localhost:8080",
    "ws://localhost:8080", "tauri://localhost", "http://localhost", "https://localhost",
    "http://localhost:8080 http://localhost:8080", "http://localhost:8080/",
  ])
  func `refuse pages of any other`(_ origin: String) {
    #expect(isRefused(host: "localhost:8080", origin: origin))
  }

  @Test func `accept programs, which send no Origin`() {
    #expect(!isRefused(host: "localhost:8080"))
  }
}
