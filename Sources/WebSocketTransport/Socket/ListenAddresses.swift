/// The addresses that sockets are made for, of those that were asked for.
struct ListenAddresses {
  struct Entry {
    /// Numeric, unless somebody gave anything else.
    let text: String
    /// Whether a machine that does not have it is served without it.
    let isOptional: Bool

    var isV6: Bool { text.contains(":") }
  }

  /// Each once, in order.
  let entries: [Entry]

  /// `localhost` is both loopbacks, as browsers may try either; a machine without IPv6 has one.
  init(_ given: [String]) {
    var entries: [Entry] = []
    for text in given {
      if text.lowercased() == "localhost" {
        Self.add(Entry(text: "127.0.0.1", isOptional: false), to: &entries)
        Self.add(Entry(text: "::1", isOptional: true), to: &entries)
      } else {
        Self.add(Entry(text: IPAddress(text)?.text ?? text, isOptional: false), to: &entries)
      }
    }
    // Who listens on all addresses of a kind has those that were named besides.
    for all in ["0.0.0.0", "::"] where entries.contains(where: { $0.text == all }) {
      let isV6 = all.contains(":")
      entries.removeAll { $0.isV6 == isV6 && $0.text != all }
    }
    self.entries = entries
  }

  private static func add(_ entry: Entry, to entries: inout [Entry]) {
    guard let place = entries.firstIndex(where: { $0.text == entry.text }) else {
      return entries.append(entry)
    }
    if !entry.isOptional { entries[place] = entry }
  }

  /// Whether `::` leaves IPv4 to others. Alone it takes that too.
  var isV6Only: Bool { !entries.allSatisfy(\.isV6) }
}
