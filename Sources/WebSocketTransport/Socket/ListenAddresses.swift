/// The addresses to open sockets on, made from those that were configured.
struct ListenAddresses {
  struct Entry {
    /// The numeric address, or the configured text if it is none.
    let text: String
    /// True if the address may be missing on this machine.
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
    // A wildcard address covers every other address of its family.
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

  /// True if `::` leaves IPv4 to other sockets. On its own it accepts IPv4 too.
  var isV6Only: Bool { !entries.allSatisfy(\.isV6) }
}
