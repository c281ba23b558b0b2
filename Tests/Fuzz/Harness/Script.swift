/// The acts that a fuzzer's bytes stand for: a line an act, so that a seed can be read and written by hand.
///
/// A line is a message from the connection that speaks, unless it begins with one of the signs below.
enum Act {
  case message([UInt8])
  /// `@2`: connection 2 speaks from here on.
  case speaker(Int)
  /// `?timer=tea&interval=0.5`: the speaker leaves, and comes back with this query.
  case connect(query: [UInt8])
  /// `+1500`: 1500 milliseconds pass, and each deadline on the way is handled at its instant.
  case wait(milliseconds: Int64)
  /// `~1500`: 1500 milliseconds pass at once, as when the machine slept.
  case sleep(milliseconds: Int64)
  /// `=2`: the disk stores the first two pending writes; without a number, all of them.
  case store(Int)
  /// `!2`: the disk refuses the first two pending writes.
  case failStore(Int)
  /// `^1500`: the server is killed, and starts again 1500 milliseconds later.
  case restart(milliseconds: Int64)
  /// `*1500`: the wall clock is set 1500 milliseconds ahead of the server clock.
  case setWallClock(milliseconds: Int64)
  /// `>POST api/timers/tea/start {"duration":5}`: an HTTP request.
  case request(method: [UInt8], path: [UInt8], body: [UInt8])
  /// `%tea {"version":1,…}`: somebody writes a timer's file, or removes it when nothing follows the name.
  case edit(name: [UInt8], contents: [UInt8])
  /// `.`: the server is asked to stop.
  case stop

  init(line: ArraySlice<UInt8>) {
    let rest = Array(line.dropFirst())
    switch line.first {
    case UInt8(ascii: "@"): self = .speaker(Int(Self.number(rest) % 4))
    case UInt8(ascii: "?"): self = .connect(query: rest)
    case UInt8(ascii: "+"): self = .wait(milliseconds: Self.number(rest))
    case UInt8(ascii: "~"): self = .sleep(milliseconds: Self.number(rest))
    case UInt8(ascii: "="): self = .store(rest.isEmpty ? .max : Int(Self.number(rest)))
    case UInt8(ascii: "!"): self = .failStore(rest.isEmpty ? .max : Int(Self.number(rest)))
    case UInt8(ascii: "^"): self = .restart(milliseconds: Self.number(rest))
    case UInt8(ascii: "*"): self = .setWallClock(milliseconds: Self.number(rest))
    case UInt8(ascii: "."): self = .stop
    case UInt8(ascii: ">"):
      let words = Self.words(rest, count: 3)
      self = .request(method: words[0], path: words[1], body: words[2])
    case UInt8(ascii: "%"):
      let words = Self.words(rest, count: 2)
      self = .edit(name: words[0], contents: words[1])
    default: self = .message(Array(line))
    }
  }

  /// The number of at most ten digits at the front; 1 where there are none.
  private static func number(_ bytes: [UInt8]) -> Int64 {
    let digits = bytes.prefix(10).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return Int64(String(decoding: digits, as: UTF8.self)) ?? 1
  }

  /// The parts between spaces: the last holds the rest, and missing ones are empty.
  private static func words(_ bytes: [UInt8], count: Int) -> [[UInt8]] {
    let words = bytes.split(
      separator: UInt8(ascii: " "), maxSplits: count - 1, omittingEmptySubsequences: false)
    return (0..<count).map { $0 < words.count ? Array(words[$0]) : [] }
  }
}
