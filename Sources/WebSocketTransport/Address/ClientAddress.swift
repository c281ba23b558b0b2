/// Finds the client's address in a request that came through proxies.
enum ClientAddress {
  /// The right-most address that is no trusted proxy. Each proxy appends its peer's address, and everything to the left
  /// of the first untrusted one was claimed by that client.
  ///
  /// `X-Forwarded-For` is used, or in its absence `Forwarded` (RFC 7239): most proxies set only the first, and pass on
  /// the client's own value of the second.
  static func find(
    _ headers: [String: String], peer: IPAddress, trusted: [AddressRange]
  ) -> IPAddress {
    var address = peer
    guard isTrusted(peer, by: trusted) else { return peer }
    for word in chain(headers).reversed() {
      // `unknown`, or `_hidden`: no more is to be learnt.
      guard let next = word.flatMap(parse) else { return address }
      address = next
      if !isTrusted(next, by: trusted) { return next }
    }
    return address
  }

  static func isTrusted(_ address: IPAddress, by trusted: [AddressRange]) -> Bool {
    trusted.contains { $0.contains(address) }
  }

  /// The addresses named, in their order; nil for an element that names none.
  private static func chain(_ headers: [String: String]) -> [String?] {
    if let list = headers["x-forwarded-for"] {
      return list.split(separator: ",", omittingEmptySubsequences: false).map(blankTrimmed)
    }
    // A quote that a client opens and does not close would take the words of the proxies into itself: nothing is known
    // then.
    let list = Array((headers["forwarded"] ?? "").utf8)
    guard let elements = QuotedList.pieces(of: list[...], at: UInt8(ascii: ","), .escapes) else {
      return [nil]
    }
    return elements.map { element in
      let pairs = QuotedList.pieces(of: element, at: UInt8(ascii: ";"), .escapes) ?? []
      return pairs.lazy.map { String(decoding: blanksTrimmed($0), as: UTF8.self) }
        .first { $0.lowercased().hasPrefix("for=") }
        .map { unquoted(blankTrimmed($0.dropFirst(4))) }
    }
  }

  /// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
  private static func parse(_ word: String) -> IPAddress? {
    if word.hasPrefix("[") {
      guard let end = word.firstIndex(of: "]") else { return nil }
      let rest = word[word.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      return IPAddress(String(word[word.index(after: word.startIndex)..<end]))
    }
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    return IPAddress(parts.count == 2 ? String(parts[0]) : word)
  }

  private static func unquoted(_ word: String) -> String {
    guard word.count >= 2, word.hasPrefix("\""), word.hasSuffix("\"") else { return word }
    return String(word.dropFirst().dropLast())
  }

  private static func blankTrimmed(_ text: some StringProtocol) -> String {
    String(decoding: blanksTrimmed(Array(text.utf8)[...]), as: UTF8.self)
  }
}
