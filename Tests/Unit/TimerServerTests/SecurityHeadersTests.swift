import Testing

@testable import TimerServer

@Suite struct `The security headers` {
  private func policy(_ ancestors: [String]) -> String {
    let headers = SecurityHeaders(frameAncestors: ancestors.compactMap { FrameAncestor($0) })
    return headers.headers.first { $0.name == "Content-Security-Policy" }?.value ?? ""
  }

  @Test func `allow only the page's own scripts`() {
    #expect(policy([]).contains("default-src 'none'; script-src 'self';"))
    #expect(!policy([]).contains("unsafe"))
  }

  @Test func `let the page be installed, and speak to its own server in older browsers too`() {
    // Safari before 15.4 does not count `ws:` as the page's own origin, so the policy names it.
    for part in [
      "manifest-src 'self'", "worker-src 'self'", "connect-src 'self' ws: wss:",
      "img-src 'self' data:",
    ] {
      #expect(policy([]).contains("; \(part);"))
    }
  }

  @Test func `allow no framing unless a site is listed`() {
    #expect(policy([]).hasSuffix("frame-ancestors 'none'"))
    #expect(
      policy(["self", "https://dash.example:8443"]).hasSuffix(
        "frame-ancestors 'self' https://dash.example:8443"))
    #expect(policy(["*"]).hasSuffix("frame-ancestors *"))
  }

  @Test func `name a site as browsers do`() {
    #expect(
      policy(["HTTPS://Dash.Example:443", "http://dash.example:8080"]).hasSuffix(
        "frame-ancestors https://dash.example http://dash.example:8080"))
    #expect(policy(["https://*.Dash.Example:*"]).hasSuffix("ancestors https://*.dash.example:*"))
  }

  @Test(arguments: [
    "self", "'self'", "*", "https://a.example", "http://127.0.0.1:8080", "https://*.example",
    "http://[::1]:80", "https://*", "https://*:8443", "https://a.example:*",
    "https://*.a.example:*",
  ])
  func `know a site`(_ text: String) {
    #expect(FrameAncestor(text) != nil)
  }

  @Test(arguments: [
    "", "none", "dash.example", "https://", "https:", "https:a.example", "ftp://a.example",
    "https://a.example; script-src *", "https://a.example script-src", "https://a.example/path",
    "https://a.example\r\nX: y", "data:", "https://exämple", "javascript://a", "null", "file://",
    "tauri://localhost", "https://*a.example", "https://**", "https://a.*", "https://a.example:x",
    "https://1.2.3", "https://[::1", "https://*.[::1]", "*.example", "https://a.example:443:443",
  ])
  func `take nothing else into the header`(_ text: String) {
    #expect(FrameAncestor(text) == nil)
  }
}
