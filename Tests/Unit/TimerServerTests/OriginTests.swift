import Testing
import WebSocketTransport

@testable import TimerServer

@Suite struct `An origin` {
  @Test(arguments: [
    ("HTTPS://Show.Example", "https://show.example"),
    ("https://show.example:443", "https://show.example"),
    ("http://show.example:080", "http://show.example"),
    ("https://show.example:80", "https://show.example:80"),
    ("https://show.example.", "https://show.example"),
    ("http://127.0.0.1.:8080", "http://127.0.0.1:8080"),
    ("ws://show.example:80", "ws://show.example"), ("wss://show.example:443", "wss://show.example"),
    ("http://[0:0:0:0:0:0:0:1]:8080", "http://[::1]:8080"),
    ("http://[2001:DB8::0001]", "http://[2001:db8::1]"),
    ("tauri://LocalHost", "tauri://localhost"),
    ("capacitor://localhost:80", "capacitor://localhost:80"),
    ("chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop"),
    ("moz-extension://0f0e-11aa-22", "moz-extension://0f0e-11aa-22"), ("app://.", "app://."),
    ("NULL", "null"), ("FILE://", "file://"),
  ])
  func `is one in all its spellings`(_ spelling: String, _ usual: String) throws {
    let origin = try #require(Origin(spelling))

    #expect(origin == Origin(usual))
    #expect(origin.text == usual)
  }

  @Test(arguments: [
    "", "null ", "http", "http:", "http:/", "http://", "://x", "1http://x", "ht tp://x",
    "show.example",
    "https://show.example/", "https://a@show.example", "https://show.example:", "https://:443",
    "https://show.example:65536", "https://show.example:-1", "https://show.example:4 43",
    "https://a..", "https://.", "https://[::1", "https://[127.0.0.1]", "https://[::1%eth0]",
    "https://[::g]",
    "https://[::1]x", "https://1.2.3", "https://1.2.3.4.5", "https://256.0.0.1", "https://0x7f.1",
    "https://127.0.0.01", "https://a https://b", "https://a, https://b", "file:///", "file://host",
    "file", "tauri://", "https://exämple.de", "https://*.show.example", "blob:https://a", "data:",
  ])
  func `is nothing that browsers don't send`(_ text: String) {
    let origin = Origin(text)

    // An empty port counts as none (RFC 3986 §3.2.3), and two dots are a name that no host has.
    let isHarmless = ["https://show.example:", "https://a.."].contains(text)
    #expect(origin == nil || isHarmless)
  }

  @Test(arguments: [
    ("x:443", "https://x"), ("x", "https://x"), ("x", "https://x:443"), ("x:80", "http://x"),
    ("x", "http://x:80"), ("x:8080", "http://x:8080"), ("X.:8080", "https://x:8080"),
    ("[0:0::1]:8080", "http://[::1]:8080"), ("192.168.1.7", "http://192.168.1.7"),
  ])
  func `is the server's own under the same host and port`(_ host: String, _ origin: String) throws {
    let authority = try #require(Authority(host))

    #expect(Origin(origin)?.isOwn(of: authority) == true)
  }

  @Test(arguments: [
    ("x", "http://x:8080"), ("x:8080", "http://x"), ("x:80", "https://x"), ("x:443", "http://x"),
    ("x:8080", "http://y:8080"), ("localhost", "x://localhost"), ("x", "ws://x"), ("x", "wss://x"),
    ("x", "null"), ("x", "file://"), ("[::1]", "http://[::2]"),
    ("127.0.0.1", "http://[::ffff:7f00:1]"),
  ])
  func `is another's otherwise`(_ host: String, _ origin: String) throws {
    let authority = try #require(Authority(host))

    #expect(try #require(Origin(origin)).isOwn(of: authority) == false)
  }
}

@Suite struct `The response headers for an origin` {
  private func rules(_ origins: [String] = [], hosts: [String] = []) -> AccessRules {
    var rules = AccessRules()
    let areTaken = origins.map { rules.addOrigin($0) } + hosts.map { rules.addHost($0) }
    #expect(!areTaken.contains(false))
    return rules
  }

  private func told(
    _ rules: AccessRules, isSecure: Bool = false, _ headers: [String: String]
  ) -> [String: String] {
    let told = rules.answerHeaders(isSecure: isSecure)?(headers) ?? []
    return Dictionary(uniqueKeysWithValues: told.map { ($0.name, $0.value) })
  }

  @Test(arguments: [
    ("https://show.example:443", "https://show.example"), ("file://", "file://"), ("null", "null"),
    ("http://[0::1]:81", "http://[::1]:81"), ("tauri://localhost", "tauri://localhost"),
  ])
  func `names a listed page as its browser did`(_ listed: String, _ sent: String) {
    let headers = told(rules([listed]), ["origin": sent])

    #expect(headers["Access-Control-Allow-Origin"] == sent)
    #expect(headers["Vary"] == "Origin")
  }

  @Test(arguments: ["https://show.example/", "https://show.example:444", "null", "file://", ""])
  func `names no other page`(_ sent: String) {
    let headers = told(rules(["https://show.example"]), ["origin": sent])

    #expect(headers == ["Vary": "Origin"])
  }

  @Test(arguments: ["timer.example", "Timer.Example.:8443"])
  func `sends HSTS under the server's own names`(_ host: String) {
    let rules = rules(hosts: ["timer.example"])

    #expect(
      told(rules, isSecure: true, ["host": host]) == [
        "Strict-Transport-Security": "max-age=31536000"
      ])
    #expect(told(rules, ["host": host]) == [:])
  }

  @Test(arguments: ["localhost:8443", "192.168.1.7", "[::1]", "other.example", "a.localhost", ""])
  func `sends no HSTS under an address, localhost or a foreign name`(_ host: String) {
    let rules = rules(
      ["https://show.example"], hosts: ["timer.example", "localhost", "a.localhost"])

    #expect(told(rules, isSecure: true, ["host": host]) == ["Vary": "Origin"])
  }
}
