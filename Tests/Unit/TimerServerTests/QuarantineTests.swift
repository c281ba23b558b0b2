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
    return quarantine.reportLoss(of: try #require(TimerID("tea")))
  }

  @Test func `reports a timer that was lost`() throws {
    #expect(try told(of: []) != nil)
  }

  @Test func `reports nothing for a start of a timer that the log had`() throws {
    let timer = SharedTimer(
      id: try #require(TimerID("tea")), revision: 1,
      settings: TimerSettings(type: .countdown(300)), changedAt: 0)

    #expect(
      try told(of: [
        TimerRecord(timer: timer, clock: ClockReading(server: 0, boot: 0, bootID: "b0"))
      ]) == nil)
  }
}

@Suite struct `The quarantine in the health report` {
  private func folder(damaged count: Int, named prefix: String) -> TimerFolder.Contents {
    var contents = TimerFolder.Contents()
    contents.faults = (0..<count).compactMap { number in
      FileName(key: "\(prefix)\(number)").map {
        FileFault(fileName: $0, fault: .malformed("it is empty"))
      }
    }
    return contents
  }

  private func files(_ bench: inout HubBench) -> [String] {
    let faults = Message(bench.http("GET", "/healthz").body)["faults"] as? [[String: Any]]
    return faults?.compactMap { $0["file"] as? String } ?? []
  }

  @Test func `costs next to nothing while it stays the same`() {
    var bench = HubBench.make()
    let folder = folder(damaged: 2_000, named: "tea")
    var firsts: [Duration] = []
    for _ in 0..<3 {
      bench.handle(.store(.restored(folder)))
      firsts.append(ThreadTime.of { _ = bench.http("GET", "/healthz") })
    }

    let later = ThreadTime.least { _ = bench.http("GET", "/healthz") }

    #expect(files(&bench).count == 2_000)
    #expect(later < (firsts.min() ?? .zero) / 10, "\(later) of \(firsts)")
  }

  @Test func `lists the damaged files of the present folder`() {
    var bench = HubBench.make()
    bench.handle(.store(.restored(folder(damaged: 2, named: "tea"))))
    #expect(files(&bench) == ["tea0.json", "tea1.json"])

    bench.handle(.store(.restored(folder(damaged: 2, named: "oven"))))
    #expect(files(&bench) == ["oven0.json", "oven1.json"])

    bench.damage("pot.json")
    #expect(files(&bench) == ["oven0.json", "oven1.json", "pot.json"])
  }
}
