/// Why a command did not change a timer: a case for each thing that the caller can do about it.
public enum TimerRefusal: Error, Hashable, Sendable {
  /// It needs a run, and there is none: start it first.
  case timerHasNotStarted
  /// Only a paused timer can be resumed.
  case timerHasNotPaused
  /// It is paused already.
  case timerAlreadyPaused
  /// It runs or is paused: finish it first, or start with force.
  case timerAlreadyStarted
  /// A stopwatch has no remaining time; a countdown's elapsed time is not to be set, and it has no laps.
  case invalidTimerType
  /// There is no timer of this name.
  case unknownTimer
  /// It moved on to another revision since the caller looked.
  case revisionMismatch(current: Int)
  /// The run that the caller saw is over; another one may be under way.
  case runMismatch
  /// A number is too low or too high; `limit` is the nearest that would be taken.
  case outOfRange(field: String, limit: Seconds)
  /// The run has as many laps as are kept: a new run has none.
  case tooManyLaps
  /// `at` lies outside of what is believed; the bounds are the earliest and the latest instant.
  case pressOutOfRange(earliest: Instant, latest: Instant)
  /// Fields that don't go together, in words that say what would.
  case contradiction(String)
}
