import WebSocketTransport

/// A page's origin, as browsers send it in `Origin` and as `--origin` names it: RFC 6454, and the URL standard.
///
/// Spellings with the same meaning are equal: in any case, with the default port or without.
enum Origin: Hashable, Sendable {
  /// `null`: an opaque origin, as of a page in a sandbox, or of most that are opened as files.
  case opaque
  /// `file://`, which some programs send for pages that were opened as files.
  case file
  /// A page of this scheme and host; the port is nil if there is none and the scheme has no default.
  case site(scheme: String, URLHost, port: UInt16?)

  /// nil for what is no origin, such as a page's address or a list.
  init?(_ text: String) {
    let bytes = lowercased(text)
    if bytes.elementsEqual("null".utf8) {
      self = .opaque
      return
    }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      bytes[colon...].starts(with: "://".utf8),
      let scheme = Self.scheme(bytes[..<colon])
    else { return nil }
    let rest = bytes[(colon + "://".utf8.count)...]
    if scheme == "file" {
      guard rest.isEmpty else { return nil }
      self = .file
      return
    }
    let usualPort = Self.usualPort(scheme)
    guard let authority = Authority(rest, isOfWeb: usualPort != nil) else { return nil }
    self = .site(scheme: scheme, authority.host, port: authority.port ?? usualPort)
  }

  /// RFC 3986 §3.1.
  private static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
    guard let first = bytes.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
      bytes.allSatisfy({ isLetterOrDigit($0) || "+-.".utf8.contains($0) })
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func usualPort(_ scheme: String) -> UInt16? {
    switch scheme {
    case "http", "ws": 80
    case "https", "wss": 443
    default: nil
    }
  }

  /// Returns whether it is the origin of a server with this `Host`. TLS may end here or at a proxy, so both `http` and
  /// `https` count, each with its default port if the `Host` has none.
  func isOwn(of authority: Authority) -> Bool {
    guard case .site(let scheme, let host, let port) = self, scheme == "http" || scheme == "https"
    else { return false }
    return host == authority.host && port == authority.port ?? Self.usualPort(scheme)
  }

  /// As browsers write it (RFC 6454 §6.2).
  var text: String {
    switch self {
    case .opaque: "null"
    case .file: "file://"
    case .site(let scheme, let host, let port):
      "\(scheme)://\(host.text)"
        + (port.flatMap { $0 == Self.usualPort(scheme) ? nil : ":\($0)" } ?? "")
    }
  }
}

/// A host and an optional port: the value of `Host`, and the part of an origin after its scheme.
struct Authority: Hashable, Sendable {
  let host: URLHost
  let port: UInt16?

  /// nil for what is no host, or no host and port.
  init?(_ text: String) {
    self.init(lowercased(text)[...], isOfWeb: true)
  }

  /// Compares bytes instead of characters, because this runs for every connection.
  fileprivate init?(_ bytes: ArraySlice<UInt8>, isOfWeb: Bool) {
    let end: Int
    if bytes.first == UInt8(ascii: "[") {
      guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      end = bracket + 1
    } else {
      end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
    }
    guard let host = URLHost(bytes[..<end], isOfWeb: isOfWeb),
      let port = Self.port(bytes[end...])
    else { return nil }
    self.host = host
    self.port = port
  }

  /// The number behind a colon; `.some(nil)` where there is none (RFC 3986 §3.2.3), nil for anything else.
  private static func port(_ bytes: ArraySlice<UInt8>) -> UInt16?? {
    guard let first = bytes.first else { return .some(nil) }
    let digits = bytes.dropFirst()
    guard first == UInt8(ascii: ":"), digits.allSatisfy(isDigit) else { return nil }
    guard !digits.isEmpty else { return .some(nil) }
    return UInt16(String(decoding: digits, as: UTF8.self)).map { .some($0) }
  }
}

/// A host: a name, or an address, which can't be made to point elsewhere.
struct URLHost: Hashable, Sendable {
  /// Lowercase, a name without the dot at its end; IPv6 shortened, in brackets.
  let text: String
  let isAddress: Bool

  /// A name alone; nil for anything else, an address too.
  init?(name: String) {
    guard let host = URLHost(lowercased(name)[...], isOfWeb: true), !name.hasPrefix("[") else {
      return nil
    }
    self = host
  }

  /// If `isOfWeb` is false, this is the host of an app's page, such as `localhost` in `tauri://localhost`: any word.
  fileprivate init?(_ bytes: ArraySlice<UInt8>, isOfWeb: Bool) {
    if bytes.first == UInt8(ascii: "[") {
      guard let address = Self.bracketed(bytes) else { return nil }
      (text, isAddress) = (address, true)
      return
    }
    // A dot at the end marks a fully qualified name, as all names here are.
    let isDotted = isOfWeb && bytes.last == UInt8(ascii: ".")
    let name = isDotted ? bytes.dropLast() : bytes
    guard !name.isEmpty, name.allSatisfy({ isLetterOrDigit($0) || "-._".utf8.contains($0) })
    else { return nil }
    text = String(decoding: name, as: UTF8.self)
    guard isOfWeb, Self.endsInNumber(name) else {
      isAddress = false
      return
    }
    // The URL standard: such a host is an IPv4 address or none. Browsers send no other spelling of one.
    guard IPAddress(text) != nil else { return nil }
    isAddress = true
  }

  private static func bracketed(_ bytes: ArraySlice<UInt8>) -> String? {
    let inner = bytes.dropFirst().dropLast()
    guard bytes.last == UInt8(ascii: "]"), inner.contains(UInt8(ascii: ":")) else { return nil }
    return IPAddress(String(decoding: inner, as: UTF8.self)).map { "[\($0.text)]" }
  }

  private static func endsInNumber(_ name: ArraySlice<UInt8>) -> Bool {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return isNumber(name) }
    return isNumber(name[(dot + 1)...])
  }

  private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
    guard !label.allSatisfy(isDigit) else { return !label.isEmpty }
    return label.starts(with: "0x".utf8)
      && label.dropFirst(2).allSatisfy {
        isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}

private func lowercased(_ text: String) -> [UInt8] {
  text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
}

private func isDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

/// Returns whether a byte of a host, which `lowercased` has been applied to, is a letter or a digit.
private func isLetterOrDigit(_ byte: UInt8) -> Bool {
  isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
}
