import FoundationEssentials
import Testing
import TimerCore

@Suite struct `A length in seconds` {
  @Test(
    arguments: [
      (0.0, 0), (1.0, 1_000_000), (-0.5, -500_000), (90.5, 90_500_000), (0.000001, 1),
      (0.1, 100_000), (1_764_480_000.000001, 1_764_480_000_000_001), (272.6, 272_600_000),
      (0.0000004, 0), (0.0000006, 1), (-0.0000006, -1),
    ] as [(Double, Int64)])
  func `is the nearest whole microsecond`(_ seconds: Double, _ microseconds: Int64) {
    #expect(Seconds(exactly: seconds)?.microseconds == microseconds)
    #expect(Seconds(clamping: seconds).microseconds == microseconds)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e10, -1e10, 1e300])
  func `is none for what is no length or can't be told apart`(_ seconds: Double) {
    #expect(Seconds(exactly: seconds) == nil)
  }

  @Test(arguments: [Double.infinity, -.infinity, 1e300, -1e300])
  func `is held at its bounds when clamped`(_ seconds: Double) {
    let held = Seconds(clamping: seconds)

    #expect(abs(held.inSeconds) == 9_007_199_254)
    #expect((held > .zero) == (seconds > 0))
  }

  @Test func `is zero for no number when clamped`() {
    #expect(Seconds(clamping: .nan) == .zero)
  }

  @Test func `is the same again after a Double, for each microsecond of the present`() {
    for microseconds in (1_764_480_000_000_000 as Int64)..<1_764_480_000_010_000 {
      let length = Seconds(microseconds: microseconds)

      #expect(Seconds(clamping: length.inSeconds) == length)
    }
  }

  @Test func `adds up without loss`() {
    let sum = (0..<1_000_000).reduce(Seconds.zero) { sum, _ in sum + 0.1 }

    #expect(sum == 100_000)
  }
}

@Suite struct `An instant` {
  @Test(
    arguments: [
      1_764_480_000_000_001, 1_764_480_000_999_999, -1, 0, 4_102_444_800_123_457,
    ] as [Int64])
  func `keeps each microsecond as a date`(_ microseconds: Int64) {
    let instant = Instant(microseconds: microseconds)

    #expect(Instant(instant.date) == instant)
  }

  @Test func `is the nearest whole microsecond of a date`() {
    #expect(Instant(Date(timeIntervalSince1970: 1.0000004)) == 1)
    #expect(Instant(Date(timeIntervalSince1970: 1.0000006)) == Instant(microseconds: 1_000_001))
  }

  @Test func `is held at its bounds for a date far away`() {
    #expect(Instant(Date(timeIntervalSince1970: 1e20)) == Instant(9_007_199_254 as Seconds))
  }

  @Test func `differs from another by a length`() {
    let earlier: Instant = 1_764_480_000
    let later: Instant = 1_764_480_000.25

    #expect(later - earlier == 0.25)
    #expect(later - (0.25 as Seconds) == earlier)
    #expect(earlier < later)
  }
}
