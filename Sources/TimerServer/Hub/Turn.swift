import TimerCore

/// One turn of the hub: the instant of an event, and what the hub wants done about it so far.
///
/// It is passed along the whole way from an event to what is published, so that every step knows the time and may add
/// to what is done.
struct Turn {
  /// When the event came, on the server clock.
  let now: Instant
  var actions = HubActions()

  init(now: Instant) {
    self.now = now
  }
}
