import Glibc
import WebSocketTransport

/// `--port 0 --ping-seconds 1 …`
struct EchoArguments {
  var options = TransportOptions()
  /// Loops to make and drop before the one that serves.
  var rehearsalCount = 0
  private var certificatePath = ""
  private var keyPath = ""

  init(_ arguments: [String]) {
    options.port = 0
    options.drainSeconds = 1
    options.log = { level, line in
      print("log \(level) \(line)")
      // Tests wait for some of these lines.
      fflush(nil)
    }
    options.commonHeaders = [HTTPHeader("X-Content-Type-Options", "nosniff")]
    let page = Array("<!doctype html><title>echo</title>".utf8)
    options.staticFiles = [
      "/index.html": StaticFile(
        contentType: "text/html; charset=utf-8", body: page, entityTag: "\"page1\""),
      "/big.bin": StaticFile(
        contentType: "application/octet-stream", body: Echo.pattern(3_000_000),
        entityTag: "\"big1\""),
    ]
    options.admission = { handshake in
      handshake.query.contains(QueryItem("refuse", "yes"))
        ? HTTPResponse(status: 403, contentType: "text/plain", body: Array("go away".utf8)) : nil
    }
    options.fileAdmission = { headers in
      headers["host"] == "elsewhere"
        ? HTTPResponse(status: 403, contentType: "text/plain", body: Array("go away".utf8)) : nil
    }
    options.serviceRefusal = { refusal in
      let code = refusal == .stopping ? "shuttingDown" : "badRequest"
      let error =
        #"{"code":"\#(code)","message":"\#(refusal.message)","retryable":\#(refusal == .stopping)}"#
      return HTTPResponse(
        status: refusal.status, body: Array(#"{"reply":null,"ok":false,"error":\#(error)}"#.utf8))
    }
    var rest = arguments.dropFirst()
    while let name = rest.popFirst(), let value = rest.popFirst() { set(name, value) }
    if !certificatePath.isEmpty {
      options.tls = TLSOptions(certificatePath: certificatePath, keyPath: keyPath)
    }
  }

  private mutating func bound(_ name: String, _ value: String) {
    switch name {
    case "--tls-cert": certificatePath = value
    case "--tls-key": keyPath = value
    case "--trusted-proxy": options.trustedProxies += [AddressRange(value)].compactMap { $0 }
    case "--loopback-bounded": options.isLoopbackBounded = value == "yes"
    case "--connections-per-address": options.connectionsPerAddressMax = Int(value) ?? 256
    case "--http-connections": options.httpConnectionsMax = Int(value) ?? 1_024
    case "--handshake-seconds": options.handshakeSeconds = Double(value) ?? 10
    case "--head-bytes-max": options.headBytesMax = Int(value) ?? 16_384
    case "--body-bytes-max": options.bodyBytesMax = Int(value) ?? 16_384
    default: print("unknown option \(name)")
    }
  }

  private mutating func set(_ name: String, _ value: String) {
    switch name {
    case "--address": options.addresses = value.split(separator: ",").map(String.init)
    case "--port": options.port = Int(value) ?? 0
    case "--path": options.webSocketPath = value
    case "--ping-seconds": options.pingSeconds = Double(value) ?? 20
    case "--drain-seconds": options.drainSeconds = Double(value) ?? 1
    case "--connections-max": options.connectionsMax = Int(value) ?? 20_000
    case "--message-bytes-max": options.messageBytesMax = Int(value) ?? 16_384
    case "--threads": options.loopCount = Int(value) ?? 1
    case "--stall-seconds": options.stallSeconds = Double(value) ?? 30
    case "--unsent-bytes-total-max":
      options.unsentBytesTotalMax = Int(value) ?? options.unsentBytesTotalMax
    case "--unsent-bytes-max": options.unsentBytesMax = Int(value) ?? 262_144
    case "--binary": options.acceptsBinary = value == "yes"
    case "--rehearsals": rehearsalCount = Int(value) ?? 0
    default: bound(name, value)
    }
  }
}
