import TimerCore
import TimerProtocol

/// A timer's name that a test writes down.
func id(_ name: String) -> TimerID {
  guard let id = TimerID(name) else { preconditionFailure("\(name) is no timer's name") }
  return id
}

func key(_ text: String) -> IdempotencyKey {
  guard let key = IdempotencyKey(text) else { preconditionFailure("\(text) is no request's name") }
  return key
}

/// A text message as a client sends it, read.
func read(_ json: String) throws(MalformedMessage) -> ClientMessage {
  try ClientMessage(Array(json.utf8))
}

/// The request of a text message.
func request(_ json: String) throws(MalformedMessage) -> ClientRequest {
  try read(json).request
}

/// The reason why a text message is refused; nil when it isn't.
func refusal(of json: [UInt8]) -> ErrorReply? {
  do throws(MalformedMessage) {
    _ = try ClientMessage(json)
    return nil
  } catch {
    return error.error
  }
}

func refusal(of json: String) -> ErrorReply? {
  refusal(of: Array(json.utf8))
}

extension ServerMessage {
  /// The message as it goes out.
  var json: String { String(decoding: text, as: UTF8.self) }
}

/// The message that a refused request is answered with.
func answer(to json: String) -> String {
  do throws(MalformedMessage) {
    let message = try read(json)
    return ServerMessage.accepted(message.tag, .done).json
  } catch {
    return ServerMessage.refused(error.tag, error.error, timer: nil).json
  }
}

extension TimerReading {
  /// The protocol page's example: 300 s with a pause, 129 s elapsed.
  static func make(
    _ name: String = "kitchen", revision: Int = 12, type: RestoreType = .countdown(300),
    atZero: AtZero = .overtime, title: String = "Pasta", warnings: [Seconds] = [60, 10],
    run: Bool = true, at instant: Instant = 1_764_480_140
  ) -> TimerReading {
    let start: Instant = 1_764_480_000.25
    let pause = PausePeriod(
      pause: (start + 60).date, start: (1_764_480_071 as Instant).date)
    let settings = TimerSettings(type: type, atZero: atZero, title: title, warnings: warnings)
    let data = RestoreTimerData(startDate: start.date, pausePeriods: [pause], type: type)
    return TimerReading(
      SharedTimer(
        id: id(name), revision: revision, settings: settings, run: run ? data : nil,
        changedAt: start),
      at: instant)
  }
}
