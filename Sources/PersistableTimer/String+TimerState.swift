public import TimerCore

extension String {
  /// The text of a timer for a label: `TimerState.text`, or `--:--` when there is none.
  ///
  /// With `countsDown` false a countdown shows the elapsed time instead of the remaining time.
  public init(timerState: TimerState?, countsDown: Bool = true) {
    self = timerState?.text(countsDown: countsDown) ?? "--:--"
  }
}
