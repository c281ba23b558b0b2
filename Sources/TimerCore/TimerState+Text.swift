// MARK: - The text of a label

extension TimerState {
  /// `MM:SS`, from an hour on `H:MM:SS`, with a minus sign in overtime: `04:59`, `1:00:00`, `-00:01`.
  ///
  /// A countdown's whole seconds are rounded up, so that its first second shows all of it and `00:00` comes at
  /// zero exactly and stays for a second; a stopwatch's are rounded down. Read once a second, at the timer's own
  /// seconds, no digit is left out or stays twice as long.
  public var text: String { text(countsDown: true) }

  /// The same text; with `countsDown` false a countdown shows what has passed instead of what is left.
  public func text(countsDown: Bool) -> String {
    shownSeconds(countsDown: countsDown).digits(minutesWide: 2)
  }

  /// The same text with single digits of minutes, as countdown labels have it: `4:59`, `1:00:00`, `-0:01`.
  public var shortText: String {
    shownSeconds(countsDown: true).digits(minutesWide: 1)
  }

  private func shownSeconds(countsDown: Bool) -> Int64 {
    guard case .timer = type, countsDown else {
      return Seconds(clamping: elapsedTime).wholeMilliseconds.dividedDown(by: 1000)
    }
    return -(-Seconds(clamping: time).wholeMilliseconds).dividedDown(by: 1000)
  }
}

extension Seconds {
  /// The nearest millisecond, halves away from zero: a reading that is a hair early shows its own second.
  fileprivate var wholeMilliseconds: Int64 {
    (microseconds + (microseconds < 0 ? -500 : 500)) / 1000
  }
}

extension Int64 {
  fileprivate func dividedDown(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  fileprivate func digits(minutesWide: Int) -> String {
    let whole = magnitude
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60)
    let sign = self < 0 ? "-" : ""
    guard hours == 0 else { return "\(sign)\(hours):\(minutes.padded(2)):\(seconds.padded(2))" }
    return "\(sign)\(minutes.padded(minutesWide)):\(seconds.padded(2))"
  }
}

extension UInt64 {
  fileprivate func padded(_ width: Int) -> String {
    let text = String(self)
    return String(repeating: "0", count: Swift.max(0, width - text.count)) + text
  }
}
