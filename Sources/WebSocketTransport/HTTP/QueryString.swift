import SharedAlgorithms

/// A query string as the pairs that it stands for, decoded as a form's is (WHATWG URL §5.1): `+` is a
/// space, a `%` that begins no escape is itself, empty pieces are nothing.
enum QueryString {
  /// nil when something in it is not UTF-8.
  static func decode(_ text: some Collection<UInt8>) -> [QueryItem]? {
    var items: [QueryItem] = []
    for piece in text.split(separator: UInt8(ascii: "&")) {
      let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
      guard let name = decodeWord(piece[..<equals]),
        let value = decodeWord(piece[equals...].dropFirst())
      else { return nil }
      items.append(QueryItem(name, value))
    }
    return items
  }

  private static func decodeWord(_ word: some Collection<UInt8>) -> String? {
    let spaced = word.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return PercentEncoding.decoded(spaced, strayPercent: .kept)
  }
}
