import JSONText
import TimerCore

extension TimerRecord {
  /// The members of a timer's file, version 1, as `TimerFile` reads them.
  func write(to writer: inout JSONWriter) {
    writer.member("version", Self.version)
    writer.member("timer", timer.id.name)
    writer.member("revision", timer.revision)
    for field in SettingField.inFiles { writer.member(field, of: timer.settings) }
    if let run = timer.run {
      writer.member("run") {
        if let revision = timer.runRevision { $0.member("revision", revision) }
        run.write(to: &$0)
        if !timer.laps.isEmpty { $0.array("laps", timer.laps) { $0.value($1) } }
      }
    }
    if let endedAt = timer.endedAt { writer.member("endedAt", endedAt) }
    if !ends.isEmpty {
      writer.array("ends", ends) { writer, end in
        writer.object {
          $0.member("endedAt", end.at)
          $0.member("revision", end.revision)
        }
      }
      // Older servers read only these.
      let undelivered = ends.filter { !$0.isDelivered }
      if !undelivered.isEmpty {
        writer.array("untoldEnds", undelivered) { $0.value($1.at.sinceEpoch) }
      }
    }
    writer.member("changedAt", timer.changedAt)
    if timer.runChangedAt != timer.changedAt { writer.member("runChangedAt", timer.runChangedAt) }
    writer.member("clock") { clock.write(to: &$0) }
    if !answered.isEmpty {
      writer.array("answered", answered) { writer, request in
        writer.object { request.write(to: &$0) }
      }
    }
  }
}

extension RestoreTimerData {
  fileprivate func write(to writer: inout JSONWriter) {
    if let duration = type.duration { writer.member("duration", duration) }
    writer.member("startDate", Instant(startDate))
    writer.array("pausePeriods", pausePeriods) { writer, period in
      writer.object {
        $0.member("pause", Instant(period.pause))
        if let start = period.start { $0.member("start", Instant(start)) }
      }
    }
    if let stopDate { writer.member("stopDate", Instant(stopDate)) }
  }
}

extension ClockReading {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("serverTime", server)
    writer.member("bootTime", boot)
    writer.member("bootID", bootID)
    if wall != nil { writer.member("wall", wallTime.sinceEpoch) }
  }
}

extension IdempotencyRecord {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("requestId", requestId)
    writer.member("revision", revision)
    writer.member("at", Instant(Seconds(clamping: at)))
    if let fingerprint { writer.member("fingerprint", fingerprint) }
    if let principal { writer.member("principal", principal) }
    if let network { writer.member("network", network) }
  }
}
