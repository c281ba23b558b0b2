import Testing
import TimerCore
import TimerStorage

@testable import TimerServer

@Suite struct `The quarantine` {
  private func told(of timers: [TimerRecord]) throws -> String? {
    var contents = TimerFolder.Contents()
    contents.timers = timers
    let fileName = try #require(FileName(key: "tea"))
    contents.faults = [FileFault(fileName: fileName, fault: .malformed("it is empty"))]
    var quarantine = Quarantine(contents)
    #expect(quarantine.faults.count == 1)
    return quarantine.tell(try #require(TimerID("tea")))
  }

  @Test func `tells of a timer that was lost`() throws {
    #expect(try told(of: []) != nil)
  }

  @Test func `says nothing to who starts a timer that the log had`() throws {
    let timer = SharedTimer(
      id: try #require(TimerID("tea")), revision: 1,
      settings: TimerSettings(type: .countdown(300)), changedAt: 0)

    #expect(
      try told(of: [
        TimerRecord(timer: timer, clock: ClockReading(server: 0, boot: 0, bootID: "b0"))
      ]) == nil)
  }
}
