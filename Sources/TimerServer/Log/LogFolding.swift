import WebSocketTransport

/// Summarizes similar lines about peers, one line a minute, so that peers can't fill the disk with log lines.
///
/// Lines about the server itself or its owner's files are always written: a suppressed one would leave the line before
/// it, which may say the opposite, as the latest.
///
/// Lines are similar if they differ only in addresses and numbers of connections. The first one is written at once and
/// opens a minute. At its end the newest of the similar lines is written with their count. Time is in nanoseconds of a
/// monotonic clock.
struct LogFolding {
  /// The number of kinds kept apart for each level; further ones share one kind.
  static let kindsMax = 1_024
  static let window: UInt64 = 60_000_000_000

  private struct Kind: Hashable {
    let level: LogLevel
    /// nil: the kind that all lines over the limit share.
    let template: String?
  }

  private struct Fold {
    let end: UInt64
    var count = 0
    var last = ""
  }

  private var folds: [Kind: Fold] = [:]
  /// In the order of their ends, which is that of their beginnings.
  private var order: [Kind] = []
  private var kinds: [LogLevel: Int] = [:]

  /// The end of the current minute of the oldest kind; nil without kinds.
  var nextEnd: UInt64? { order.first.flatMap { folds[$0]?.end } }

  /// Returns whether the line is to be written now.
  mutating func admit(_ line: LogLine, at now: UInt64) -> Bool {
    // Debug lines are never summarized.
    guard line.isAboutPeers, line.level != .debug else { return true }
    var kind = Kind(level: line.level, template: Self.template(line.text))
    if folds[kind] == nil, kinds[line.level, default: 0] >= Self.kindsMax {
      kind = Kind(level: line.level, template: nil)
    }
    guard folds[kind] == nil else {
      folds[kind]?.count += 1
      folds[kind]?.last = line.text
      return false
    }
    begin(kind, at: now)
    return true
  }

  private mutating func begin(_ kind: Kind, at now: UInt64) {
    folds[kind] = Fold(end: now + Self.window)
    order.append(kind)
    kinds[kind.level, default: 0] += 1
  }

  /// The summaries of minutes that are over; an active kind begins another minute.
  mutating func flushDue(at now: UInt64) -> [LogLine] {
    var lines: [LogLine] = []
    var over = 0
    while over < order.count, let fold = folds[order[over]], fold.end <= now { over += 1 }
    for kind in order.prefix(over) {
      let line = end(kind)
      guard let line else { continue }
      lines.append(line)
      begin(kind, at: now)
    }
    order.removeFirst(over)
    return lines
  }

  /// All summaries; every later line is new.
  mutating func flushAll() -> [LogLine] {
    defer { order = [] }
    return order.compactMap { end($0) }
  }

  private mutating func end(_ kind: Kind) -> LogLine? {
    kinds[kind.level, default: 0] -= 1
    guard let fold = folds.removeValue(forKey: kind), fold.count > 0 else { return nil }
    let what = kind.template == nil ? "more lines" : "more like it"
    return LogLine(
      level: kind.level, text: "\(fold.last) (\(fold.count) \(what) in the last minute)")
  }

  // MARK: Kinds

  /// The text without the parts that differ between peers.
  static func template(_ text: String) -> String {
    // libwebsockets' lines contain numbers of its own.
    let hasOwnNumbers = text.hasPrefix("libwebsockets:")
    var isAfterConnection = false
    return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
      let isNumber = hasOwnNumbers ? word.utf8.contains(where: isDigit) : isAfterConnection
      isAfterConnection = word == "connection"
      return isNumber || isAddress(word) ? "#" : String(word)
    }.joined(separator: " ")
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Returns whether a word is an IPv4 or IPv6 address, with or without a port.
  private static func isAddress(_ word: Substring) -> Bool {
    let text = word.hasSuffix(",") ? word.dropLast() : word
    if IPAddress(String(text)) != nil { return true }
    guard let colon = text.lastIndex(of: ":"), UInt16(text[text.index(after: colon)...]) != nil
    else { return false }
    let host = text[..<colon]
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    return IPAddress(String(isBracketed ? host.dropFirst().dropLast() : host)) != nil
  }
}
