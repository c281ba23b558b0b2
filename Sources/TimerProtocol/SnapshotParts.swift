import JSONText
public import TimerCore

extension ServerMessage {
  /// The most bytes of one part: below the 64 KiB that clients bound a message by.
  public static let partBytesMax = 60_000

  /// A snapshot of many timers as messages of at most `partBytesMax` bytes; as one message without a part's members
  /// when that is short enough.
  ///
  /// The first part keeps the cause, the others have `continued`. Only a timer that is longer by itself would make a
  /// longer part; none is.
  public static func parts(
    of cause: SnapshotCause, _ timers: [TimerReading], bytesMax: Int = partBytesMax
  ) -> [[UInt8]] {
    let shows = cause == .tick ? TimerReading.writeTick : TimerReading.write
    let states = timers.map { timer in
      var writer = JSONWriter(capacity: 512)
      writer.object(shows(timer))
      return writer.compactBytes
    }
    let ranges = ranges(of: states, bytesMax: bytesMax)
    return ranges.enumerated().map { index, range in
      part(
        index == 0 ? cause : .continued, states[range],
        number: ranges.count == 1 ? nil : index + 1, count: ranges.count)
    }
  }

  /// The bytes around the states of a part, including its numbers.
  private static let frameBytes = 128

  private static func ranges(of states: [[UInt8]], bytesMax: Int) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    var byteCount = frameBytes
    for (index, state) in states.enumerated() {
      if byteCount + state.count + 1 > bytesMax, index > start {
        ranges.append(start..<index)
        start = index
        byteCount = frameBytes
      }
      byteCount += state.count + 1
    }
    return ranges + [start..<states.count]
  }

  private static func part(
    _ cause: SnapshotCause, _ states: ArraySlice<[UInt8]>, number: Int?, count: Int
  ) -> [UInt8] {
    var writer = JSONWriter(capacity: frameBytes + states.reduce(0) { $0 + $1.count + 1 })
    writer.object { writer in
      writer.member("event", "snapshot")
      writer.member("cause", cause.name)
      writer.array("timers", states) { $0.element(verbatim: $1) }
      if let number {
        writer.member("part", number)
        writer.member("parts", count)
      }
    }
    return writer.compactBytes
  }
}
