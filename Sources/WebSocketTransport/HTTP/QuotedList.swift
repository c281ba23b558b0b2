/// Splits the value of a header at marks that stand outside of quotes.
enum QuotedList {
  /// The meaning of a backslash in quotes.
  enum Backslash {
    /// The next character stands for itself, as in a quoted string (RFC 9110 §5.6.4).
    case escapes
    /// A backslash is a character like any other, as in an entity tag (RFC 9110 §8.8.3).
    case isLiteral
  }

  /// The pieces, blanks included; nil when a quote does not end, so that nobody can tell where the pieces are.
  static func pieces(
    of text: ArraySlice<UInt8>, at mark: UInt8, _ backslash: Backslash
  ) -> [ArraySlice<UInt8>]? {
    var pieces: [ArraySlice<UInt8>] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for place in text.indices {
      let byte = text[place]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\"), backslash == .escapes {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == mark, !isQuoted {
        pieces.append(text[start..<place])
        start = place + 1
      }
    }
    return isQuoted ? nil : pieces + [text[start...]]
  }
}
