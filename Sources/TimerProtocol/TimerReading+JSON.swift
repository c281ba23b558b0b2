import JSONText
import TimerCore

extension TimerReading {
  /// The members of a STATE, in the protocol page's order.
  func write(to writer: inout JSONWriter) {
    writeTick(to: &writer)
    writer.member("run", timer.run == nil ? nil : timer.runRevision ?? timer.revision)
    if !timer.laps.isEmpty { writer.array("laps", timer.laps) { $0.value($1) } }
  }

  /// The members without those that only change with the revision: a client that receives a tick has them since that
  /// change.
  func writeTick(to writer: inout JSONWriter) {
    writer.member("timer", timer.id.name)
    writer.member("revision", timer.revision)
    writer.member("status", status?.rawValue ?? "idle")
    writer.member(type: timer.type)
    writer.member("elapsedTime", elapsed)
    writer.member("time", time)
    writer.member("startDate", timer.run.map { Instant($0.startDate) })
    writer.member("stopDate", timer.run?.stopDate.map(Instant.init(_:)))
    writer.array("pausePeriods", timer.run?.pausePeriods ?? []) { writer, period in
      writer.object {
        $0.member("pause", Instant(period.pause))
        $0.member("start", period.start.map(Instant.init(_:)))
      }
    }
    writer.member("lastElapsedTimeCalculatedAt", instant)
    writer.member("addedTime", timer.addedTime)
    for field in SettingField.inStates { writer.member(field, of: timer.settings) }
  }
}
