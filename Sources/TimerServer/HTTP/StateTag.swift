import TimerProtocol

/// The entity tag of a state: the history of the data and the revision, which together name one state for good.
struct StateTag: Equatable {
  /// nil in a tag that a client has made of a revision alone.
  let history: String?
  let revision: Int

  /// As `ETag` has it, in quotes. A history is letters and digits.
  var text: String {
    "\"" + (history.map { "\($0):" } ?? "") + "\(revision)\""
  }

  init(history: String?, revision: Int) {
    self.history = history
    self.revision = revision
  }

  /// Reads one tag; nil where it is none of this server's. A weak one counts too, since a revision is a whole state.
  init?(_ text: Substring) {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    if text.hasPrefix("W/") { text = text.dropFirst(2) }
    guard text.count > 2, text.first == "\"", text.last == "\"" else { return nil }
    let tag = text.dropFirst().dropLast()
    let colon = tag.lastIndex(of: ":")
    guard let revision = HistoryPoint.revision(colon.map { tag[tag.index(after: $0)...] } ?? tag)
    else { return nil }
    self.init(history: colon.map { String(tag[..<$0]) }, revision: revision)
  }

  /// The tags of a header that are this server's.
  static func list(_ text: String) -> [StateTag] {
    text.split(separator: ",").compactMap(StateTag.init(_:))
  }

  /// Whether it may be a state of this history.
  func isOf(_ history: String) -> Bool { self.history.map { $0 == history } ?? true }
}
