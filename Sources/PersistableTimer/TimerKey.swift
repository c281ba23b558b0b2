/// The name of a timer's record, from which its id is found again, whatever that holds.
package struct TimerKey: Hashable, Sendable {
  /// nil: the default timer.
  let id: String?

  private static let stem = "persistableTimerKey"

  init(id: String?) {
    self.id = id
  }

  /// nil for names that are none of ours.
  init?(text: String) {
    if text == Self.stem {
      id = nil
    } else if text.hasPrefix(Self.stem + "_") {
      id = String(text.dropFirst(Self.stem.count + 1))
    } else {
      return nil
    }
  }

  var text: String {
    id.map { Self.stem + "_" + $0 } ?? Self.stem
  }
}
