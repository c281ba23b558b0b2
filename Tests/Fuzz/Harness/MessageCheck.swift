import Foundation
import TimerCore

/// Parses the server's messages with Foundation, an independent parser, and checks them against the protocol.
enum MessageCheck {
  /// A message of the server as Foundation reads it.
  ///
  /// An id and a client's time come back as they were spelled, also where no `Double` holds them: they are
  /// compared as bytes elsewhere, and read as 0 here.
  static func read(_ text: [UInt8], echoes: [Echo] = []) -> [String: Any] {
    var text = text
    for echo in echoes {
      let member = Array("\"\(echo.name)\":".utf8)
      text.replace(
        member + echo.token, with: member + [UInt8(ascii: "0")], maxReplacements: 1)
    }
    let value: Any
    do { value = try JSONSerialization.jsonObject(with: Data(text)) } catch {
      fail("no JSON, \(error): \(String(decoding: text, as: UTF8.self))")
    }
    guard let object = value as? [String: Any] else { fail("no object: \(value)") }
    for state in states(of: object) { check(state) }
    return object
  }

  /// A member whose value comes back as it was spelled.
  struct Echo {
    let name: String
    let token: [UInt8]
  }

  /// The states that a message carries.
  static func states(of message: [String: Any]) -> [[String: Any]] {
    let one = message["timer"] as? [String: Any]
    return (message["timers"] as? [[String: Any]] ?? []) + [one].compactMap(\.self)
  }

  private static func check(_ state: [String: Any]) {
    let time = microseconds(state, "time")
    let elapsed = microseconds(state, "elapsedTime")
    let status = state["status"] as? String
    require(elapsed >= 0, "elapsedTime is below zero: \(state)")
    require((state["revision"] as? Int ?? 0) > 0, "no revision: \(state)")
    if state["type"] as? String == "timer" {
      let duration = microseconds(state, "duration")
      require(duration >= 0, "the duration is below zero: \(state)")
      require(time + elapsed == duration, "time and elapsedTime are not duration: \(state)")
      require(
        state["atZero"] as? String == "overtime" || time >= 0 || status != "running",
        "a countdown that ends is in overtime: \(state)")
    } else {
      require(state["type"] as? String == "stopwatch", "no type: \(state)")
      require(state["duration"] == nil && time == elapsed, "no stopwatch's time: \(state)")
    }
    let pauses = state["pausePeriods"] as? [[String: Any]] ?? []
    require(pauses.count <= TimerLimits.pausePeriodsMax, "too many pauses: \(state)")
    let open = pauses.filter { $0["start"] is NSNull }.count
    require(open == (status == "paused" ? 1 : 0) || status == "finished", "open pauses: \(state)")
    let laps = state["laps"] as? [Double] ?? []
    require(laps.count <= TimerLimits.lapsMax, "too many laps: \(state)")
    require(zip(laps, laps.dropFirst()).allSatisfy(<=), "laps that go back: \(state)")
    require(laps.isEmpty || state["type"] as? String == "stopwatch", "laps of none: \(state)")
    require((state["stopDate"] is NSNull) == (status != "finished"), "no stop: \(state)")
    if status == "idle" {
      require(state["laps"] == nil, "laps without a run: \(state)")
      require(elapsed == 0 && state["startDate"] is NSNull, "idle, and begun: \(state)")
    }
  }

  private static func microseconds(_ state: [String: Any], _ name: String) -> Int64 {
    guard let seconds = state[name] as? Double else { fail("no \(name): \(state)") }
    return Int64((seconds * 1_000_000).rounded())
  }
}
