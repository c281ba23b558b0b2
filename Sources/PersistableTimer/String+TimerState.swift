public import TimerCore

extension String {
  /// What a label shows of a timer: `TimerState.text`, or `--:--` when there is none.
  ///
  /// With `countsDown` false a countdown shows what has passed instead of what is left.
  public init(timerState: TimerState?, countsDown: Bool = true) {
    self = timerState?.text(countsDown: countsDown) ?? "--:--"
  }
}
